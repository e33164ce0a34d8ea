import type { FindQuery, Found, LeftOut, Standing } from "../discovery/discovery.ts";
import type { Json } from "../json/json.ts";
import type { Capability } from "../manifest/capability.ts";
import { checked } from "./checked.ts";
import { shapes } from "./shapes.ts";

/** What is looked for, as it goes over the wire. */
export interface WireFindQuery {
  readonly capability: string;
  readonly input?: Json | undefined;
  readonly version?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** In how many seconds the work must be done. */
  readonly within?: number | undefined;
  readonly min_reliability?: number | undefined;
  /** Plain words: who fits best is named first. They admit nobody and leave nobody out. */
  readonly words?: string | undefined;
}

/** What an operator or a newcomer asks who does not know yet what the capability is called. */
export interface WireSearch extends Omit<WireFindQuery, "capability"> {
  readonly capability?: string | undefined;
}

export interface WireFit {
  readonly agent_id: string;
  readonly capability: Capability;
  readonly reliability: number;
  readonly is_measured: boolean;
  readonly is_contradicted: boolean;
  readonly standing: Standing;
  readonly in_flight?: number | undefined;
  readonly credit?: number | undefined;
  readonly mean_ms?: number | undefined;
  readonly reasons: readonly string[];
}

export interface WireFound {
  readonly fits: readonly WireFit[];
  readonly left_out: readonly LeftOut[];
}

export function writeFindQuery(query: FindQuery): WireFindQuery {
  const { capability, input, version, tags, within, minReliability, words } = query;
  return { capability, input, version, tags, within, min_reliability: minReliability, words };
}

export function readFindQuery(value: unknown): FindQuery {
  const query = checked(shapes().findQuery, value, "The query");
  const { min_reliability: minReliability, ...rest } = query;
  return { ...rest, ...(minReliability === undefined ? {} : { minReliability }) };
}

export function writeFound({ fits, leftOut }: Found): WireFound {
  return {
    fits: fits.map((fit) => ({
      agent_id: fit.agent_id,
      capability: fit.capability,
      reliability: fit.reliability,
      is_measured: fit.isMeasured,
      is_contradicted: fit.isContradicted,
      standing: fit.standing,
      in_flight: fit.inFlight,
      credit: fit.credit,
      mean_ms: fit.meanMs,
      reasons: fit.reasons,
    })),
    left_out: leftOut,
  };
}

export function readFound(value: unknown): Found {
  const { fits, left_out: leftOut } = checked(shapes().found, value, "What was found");
  return {
    fits: fits.map((fit) => ({
      agent_id: fit.agent_id,
      capability: fit.capability,
      reliability: fit.reliability,
      isMeasured: fit.is_measured,
      isContradicted: fit.is_contradicted,
      standing: fit.standing,
      inFlight: fit.in_flight,
      credit: fit.credit,
      meanMs: fit.mean_ms,
      reasons: fit.reasons,
    })),
    leftOut,
  };
}

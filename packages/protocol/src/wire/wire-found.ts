import type { LeftOut, Standing } from "../discovery/discovery.ts";
import type { Json } from "../json/json.ts";
import type { Capability } from "../manifest/capability.ts";

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
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** What an operator or a newcomer asks who does not know yet what the capability is called. */
export interface WireSearch extends Omit<WireFindQuery, "capability"> {
  readonly capability?: string | undefined;
}

/** One that fits, as JSON. */
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
  readonly behind?: string | undefined;
  readonly reasons: readonly string[];
}

/** The result of a search, as JSON. */
export interface WireFound {
  readonly fits: readonly WireFit[];
  readonly left_out: readonly LeftOut[];
  /** Where to go on: more offer it than were looked at. */
  readonly next?: string | undefined;
}

/** The names under which something is offered, and by how many agents. */
export interface WireNames {
  readonly capabilities: readonly { readonly name: string; readonly agents: number }[];
  readonly next?: string | undefined;
}

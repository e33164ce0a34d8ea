import type { FindQuery, Found } from "../discovery/discovery.ts";
import { checked } from "./checked.ts";
import { shapes } from "./shapes.ts";
import type { WireFindQuery, WireFound } from "./wire-found.ts";

/** A search as JSON. */
export function writeFindQuery(query: FindQuery): WireFindQuery {
  const { minReliability, ...rest } = query;
  return { ...rest, min_reliability: minReliability };
}

/** Reads a search from JSON; throws a 400 if it is malformed. */
export function readFindQuery(value: unknown): FindQuery {
  const query = checked(shapes().findQuery, value, "The query");
  const { min_reliability: minReliability, ...rest } = query;
  return { ...rest, ...(minReliability === undefined ? {} : { minReliability }) };
}

/** The result of a search as JSON. */
export function writeFound({ fits, leftOut, next }: Found): WireFound {
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
      behind: fit.behind,
      reasons: fit.reasons,
    })),
    left_out: leftOut,
    next,
  };
}

/** Reads the result of a search from JSON; throws a 400 if it is malformed. */
export function readFound(value: unknown): Found {
  const { fits, left_out: leftOut, next } = checked(shapes().found, value, "What was found");
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
      ...(fit.behind === undefined ? {} : { behind: fit.behind }),
      reasons: fit.reasons,
    })),
    leftOut,
    ...(next === undefined ? {} : { next }),
  };
}

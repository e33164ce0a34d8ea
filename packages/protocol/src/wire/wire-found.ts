import type { LeftOut, Standing } from "../discovery/discovery.ts";
import type { Json } from "../json/json.ts";
import type { Capability } from "../manifest/capability.ts";

/** The query of a search, as it is sent over the wire. */
export interface WireFindQuery {
  readonly capability: string;
  readonly input?: Json | undefined;
  readonly version?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** In how many seconds the work must be done. */
  readonly within?: number | undefined;
  readonly min_reliability?: number | undefined;
  /** Plain words: the best match comes first. They never decide who fits. */
  readonly words?: string | undefined;
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** The search of an operator or a newcomer who does not know the name of a capability yet. */
export interface WireSearch extends Omit<WireFindQuery, "capability"> {
  readonly capability?: string | undefined;
}

/** A candidate that fits, as JSON. */
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
  /** Where to continue: there are more candidates than were considered. */
  readonly next?: string | undefined;
}

/** The names of the capabilities, and how many agents offer each. */
export interface WireNames {
  readonly capabilities: readonly { readonly name: string; readonly agents: number }[];
  readonly next?: string | undefined;
}

import type { HubServer, Store } from "@waybill/hub";
import type { Newcomers } from "@waybill/protocol/wire";
import type { RateLimits } from "./access/rate-limits.ts";
import type { FairScheduler } from "./access/fair-scheduler.ts";
import type { Polls } from "./inbox/polls.ts";
import type { ServedLimits } from "./budgets.ts";
import type { ConsoleSessions } from "./console/sessions.ts";
import type { HubMetrics } from "./metrics/hub-metrics.ts";

/** What the operations of one served hub work on. */
export interface Served {
  readonly hub: HubServer;
  readonly store: Store;
  readonly limits: ServedLimits;
  readonly polls: Polls;
  readonly tolls: RateLimits;
  readonly turns: FairScheduler;
  readonly url: string;
  /** Whether strangers may read the registry, if its operator has decided that. */
  readonly isOpenRegistry: boolean | undefined;
  /** Whose first manifest is accepted, if its operator has decided that. */
  readonly newcomers: Newcomers | undefined;
  /** No other machine can reach it, unless an undeclared proxy forwards requests. */
  readonly isLocal: boolean;
  readonly metrics: HubMetrics;
  readonly sessions: ConsoleSessions;
  /** It shuts down soon: no new clients should be sent here. */
  readonly isEnding: boolean;
  /** Aborted when it shuts down: clients should then go elsewhere, or retry. */
  readonly closing: AbortSignal;
  /** The OpenAPI description. */
  openapi(): string;
}

import type { HubServer, Store } from "@waybill/hub";
import type { Newcomers } from "@waybill/protocol/wire";
import type { RateLimits } from "./access/rate-limits.ts";
import type { FairScheduler } from "./access/fair-scheduler.ts";
import type { Polls } from "./inbox/polls.ts";
import type { ServedLimits } from "./budgets.ts";
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
  /** Whether strangers may read the registry, where its operator has said so. */
  readonly isOpenRegistry: boolean | undefined;
  /** Whose first manifest is taken, where its operator has said so. */
  readonly newcomers: Newcomers | undefined;
  /** Nobody but this machine can ask it, unless a proxy passes requests on that nobody has told it of. */
  readonly isLocal: boolean;
  readonly metrics: HubMetrics;
  /** It goes down soon: nobody new should be sent here. */
  readonly isEnding: boolean;
  /** Aborted when it goes down: whoever asks then should go elsewhere, or come again. */
  readonly closing: AbortSignal;
  /** The description of all this. */
  openapi(): string;
}

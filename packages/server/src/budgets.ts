import { WaybillError } from "@waybill/protocol";
import type { WaybillErrorOptions } from "@waybill/protocol";
import { BLOB_BUDGETS } from "./budgets/blobs.ts";
import type { BlobLimit } from "./budgets/blobs.ts";
import type { Budget } from "./budgets/budget.ts";
import { CLOSING_BUDGETS } from "./budgets/closing.ts";
import type { ClosingLimit } from "./budgets/closing.ts";
import { CONNECTION_BUDGETS } from "./budgets/connections.ts";
import type { ConnectionLimit } from "./budgets/connections.ts";
import { MESSAGE_BUDGETS } from "./budgets/messages.ts";
import type { MessageLimit } from "./budgets/messages.ts";
import { POLL_BUDGETS } from "./budgets/polls.ts";
import type { PollLimit } from "./budgets/polls.ts";
import { RATE_BUDGETS } from "./budgets/rates.ts";
import type { RateLimit } from "./budgets/rates.ts";
import { TRANSFER_BUDGETS } from "./budgets/transfers.ts";
import type { TransferLimit } from "./budgets/transfers.ts";
import { WEBHOOK_BUDGETS } from "./budgets/webhooks.ts";
import type { WebhookLimit } from "./budgets/webhooks.ts";
import { WORK_BUDGETS } from "./budgets/work.ts";
import type { WorkLimit } from "./budgets/work.ts";

export type { Budget } from "./budgets/budget.ts";

/** The names of the limits that are enforced for requests. */
export type DoorName =
  | ConnectionLimit
  | RateLimit
  | WorkLimit
  | TransferLimit
  | PollLimit
  | WebhookLimit
  | ClosingLimit;

/** What strangers and agents may use of a served hub. `BUDGETS` describes each limit. */
export type ServedLimits = Record<DoorName, number>;

/** The names of all limits of a served hub: for clients, for a message, and for a check by schemas. */
export type BudgetName = DoorName | MessageLimit | BlobLimit;

/** The limits that are enforced, and counted, for requests. */
const AT_THE_DOOR: Readonly<Record<DoorName, Budget>> = {
  ...CONNECTION_BUDGETS,
  ...RATE_BUDGETS,
  ...WORK_BUDGETS,
  ...TRANSFER_BUDGETS,
  ...POLL_BUDGETS,
  ...WEBHOOK_BUDGETS,
  ...CLOSING_BUDGETS,
};

/**
 * Every limit of a served hub for its clients, in one place. Everything else reads this: the options,
 * the enforcement, and /metrics.
 */
export const BUDGETS: Readonly<Record<BudgetName, Budget>> = {
  ...AT_THE_DOOR,
  ...MESSAGE_BUDGETS,
  ...BLOB_BUDGETS,
};

/** Those that are enforced and counted for requests. */
export const DOOR_NAMES: readonly DoorName[] = Object.keys(AT_THE_DOOR) as DoorName[];

/** The default limits of a served hub. */
export const SERVED_LIMITS: Readonly<ServedLimits> = Object.fromEntries(
  DOOR_NAMES.map((name) => [name, BUDGETS[name].limit]),
) as Record<DoorName, number>;

/** The limits of one served hub, and how often each was reached. */
export class Budgets {
  readonly limits: Readonly<ServedLimits>;
  readonly #hits = new Map<DoorName, number>();

  constructor(limits: Partial<ServedLimits> = {}) {
    this.limits = { ...SERVED_LIMITS, ...limits };
  }

  hit(name: DoorName): void {
    this.#hits.set(name, this.hitsOf(name) + 1);
  }

  /** The error for exceeding a budget; it is counted. */
  refuse(name: DoorName, message: string, options?: WaybillErrorOptions): WaybillError {
    this.hit(name);
    const { beyond } = BUDGETS[name];
    return new WaybillError(typeof beyond === "number" ? beyond : 503, message, options);
  }

  hitsOf(name: DoorName): number {
    return this.#hits.get(name) ?? 0;
  }
}

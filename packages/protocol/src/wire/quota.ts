import { WaybillError } from "../error.ts";

/** What the members of a group may do together; a missing member is unlimited. */
export interface Quota {
  /** Handoffs that they may have open at the same time. */
  readonly open?: number | undefined;
  /** Handoffs that they may submit within any minute. */
  readonly per_minute?: number | undefined;
}

/** The largest quota: a hub remembers the time of each handoff of a minute. */
export const QUOTA_LIMITS = { open: 1_000_000, perMinute: 10_000 } as const;

/** The window of `per_minute`. */
export const QUOTA_MINUTE_MS = 60_000;

const TRY_AGAIN_AFTER_MS = 5_000;

/** What the members of a group have used of its quota. */
export interface QuotaUse {
  readonly group: string;
  /** Handoffs that they have open, without the one that is submitted. */
  readonly open: number;
  /** When the earliest of the last `per_minute` handoffs was submitted; undefined if there were fewer. */
  readonly earliest?: number | undefined;
}

/** Refuses a handoff beyond the quota of a group with 301, and says when to retry. */
export function checkQuota(quota: Quota, use: QuotaUse, now: number): void {
  const { group, open, earliest } = use;
  if (quota.open !== undefined && open >= quota.open) {
    throw new WaybillError(
      301,
      `The group ${group} has ${open} open handoffs here, and its quota is ${quota.open}. Hand off again when some of them have ended, or ask an operator of the hub for more: waybill groups quota ${group} --open <number>`,
      { retryAfterMs: TRY_AGAIN_AFTER_MS },
    );
  }
  if (quota.per_minute === undefined || earliest === undefined) return;
  const waitMs = earliest + QUOTA_MINUTE_MS - now;
  if (waitMs <= 0) return;
  throw new WaybillError(
    301,
    `The group ${group} has submitted ${quota.per_minute} handoffs in the last minute, which is its quota. Hand off again in ${Math.ceil(waitMs / 1000)} s, or ask an operator of the hub for more: waybill groups quota ${group} --per-minute <number>`,
    { retryAfterMs: waitMs },
  );
}

import { WaybillError } from "../error.ts";

/** What the members of a group may do together; what is left out is not limited. */
export interface Quota {
  /** Handoffs that they may have open at the same time. */
  readonly open?: number | undefined;
  /** Handoffs that they may submit within any minute. */
  readonly per_minute?: number | undefined;
}

/** The widest quota: a hub remembers when each of a minute's handoffs came. */
export const QUOTA_LIMITS = { open: 1_000_000, perMinute: 10_000 } as const;

/** The time in which `per_minute` counts. */
export const QUOTA_MINUTE_MS = 60_000;

const TRY_AGAIN_AFTER_MS = 5_000;

/** What the members of a group have used of its quota. */
export interface QuotaUse {
  readonly group: string;
  /** Handoffs that they have open, without the one that is submitted. */
  readonly open: number;
  /** When the earliest of the last `per_minute` handoffs came in; nothing where there were fewer. */
  readonly earliest?: number | undefined;
}

/** Refuses with 301 what goes beyond the quota of a group, and says when to try again. */
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

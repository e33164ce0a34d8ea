import { WaybillError } from "@waybill/protocol";

interface Times {
  readonly deadline?: Date | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Throws if a value is no valid time. */
export function checkTimes({ deadline, timeoutMs }: Times): void {
  checkTimeout(timeoutMs);
  if (deadline === undefined) return;
  if (deadline instanceof Date && !Number.isNaN(deadline.getTime())) return;
  throw new WaybillError(
    400,
    "The deadline is not a valid Date: give new Date(…), or timeoutMs in its place.",
    { at: "/deadline" },
  );
}

/** Throws if the deadline leaves no time for the work. */
export function checkAhead({ deadline }: Times, now: number): void {
  if (deadline === undefined || deadline.getTime() > now) return;
  throw new WaybillError(
    400,
    `The deadline ${deadline.toISOString()} has passed (it is ${new Date(now).toISOString()}), so the work can't be done in time: give a later one.`,
    { at: "/deadline" },
  );
}

/** Throws if a timeout is not a positive number of milliseconds. Undefined is fine. */
export function checkTimeout(given: unknown): void {
  if (given === undefined || (typeof given === "number" && given > 0 && given < Infinity)) return;
  throw new WaybillError(
    400,
    `A timeoutMs of ${typeof given === "number" ? given : JSON.stringify(given)} leaves no time: give a positive number of milliseconds, for example 60000 for a minute.`,
    { at: "/timeoutMs" },
  );
}

import { WaybillError } from "../error.ts";
import { step } from "../json/json-rules.ts";
import { isTime } from "../time.ts";

/** A JSON object that is not validated yet. */
export type Members = { readonly [name: string]: unknown };

/**
 * Members of frames are read by hand: thousands arrive per second, and each has a few. Every reader
 * names the place of a fault in the message.
 */
export function membersOf(value: unknown, at: string): Members {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Members;
  }
  throw malformed(at, "must be an object");
}

export function textAt(members: Members, name: string, at: string): string {
  const value = members[name];
  if (typeof value === "string") return value;
  throw malformed(at + step(name), "must be a string");
}

export function optionalTextAt(members: Members, name: string, at: string): string | undefined {
  return members[name] === undefined ? undefined : textAt(members, name, at);
}

/** An integer of at least `least` that a double represents exactly. */
export function countAt(members: Members, name: string, at: string, least = 0): number {
  const value = members[name];
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw malformed(at + step(name), `must be a whole number of at least ${least}`);
}

export function countsAt(members: Members, name: string, at: string): readonly number[] {
  const value = members[name];
  const isCount = (each: unknown) => Number.isSafeInteger(each) && (each as number) >= 0;
  if (Array.isArray(value) && value.every(isCount)) return value;
  throw malformed(at + step(name), "must be a list of whole numbers of at least 0");
}

export function flagAt(members: Members, name: string, at: string): boolean {
  const value = members[name];
  if (typeof value === "boolean") return value;
  throw malformed(at + step(name), "must be true or false");
}

export function textsAt(members: Members, name: string, at: string): readonly string[] {
  const value = members[name];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw malformed(at + step(name), "must be a list of strings");
}

/** Times by name, as the wire has them. */
export function timesAt(
  members: Members,
  name: string,
  at: string,
): Readonly<Record<string, string>> {
  const times = membersOf(members[name], at + step(name));
  for (const [key, time] of Object.entries(times)) {
    if (isTime(time)) continue;
    throw malformed(
      at + step(name) + step(key),
      "must be a UTC time such as 2026-11-18T07:45:00.000Z",
    );
  }
  return times as Readonly<Record<string, string>>;
}

export function malformed(at: string, rule: string): WaybillError {
  return new WaybillError(
    400,
    `The message is malformed at ${at === "" ? "its root" : at}: it ${rule}.`,
    { at },
  );
}

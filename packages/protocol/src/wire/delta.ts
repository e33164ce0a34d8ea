import { countAt, malformed, textAt } from "./members.ts";
import type { Members } from "./members.ts";

/** The longest delta, in UTF-16 code units. */
export const DELTA_CHARACTERS = 4_096;

/** A piece of what a recipient is writing, as the recipient sends it. */
export interface WireDelta {
  readonly handoff_id: string;
  readonly attempt: number;
  /** Counts the deltas of the attempt from 0: a number that is left out was lost. */
  readonly number: number;
  readonly text: string;
}

/** The same, as the hub passes it on to the delegator. */
export interface WireShownDelta extends WireDelta {
  /** The agent that writes. */
  readonly by: string;
}

/**
 * A piece of what a recipient is writing. It is unsigned, comes at most once, and is on no record: it
 * is for showing alone, and the signed result takes its place.
 */
export interface Delta {
  readonly handoffId: string;
  readonly attempt: number;
  /** Counts the deltas of the attempt from 0: a number that is left out was lost. */
  readonly number: number;
  readonly text: string;
}

/** A delta with the agent that the hub has it from. */
export interface ShownDelta extends Delta {
  readonly by: string;
}

/** A delta as JSON. */
export function writeDelta({ handoffId, attempt, number, text }: Delta): WireDelta {
  return { handoff_id: handoffId, attempt, number, text };
}

/** Reads what `writeDelta` wrote; `at` is where it stands in its message. */
export function deltaAt(members: Members, at: string): Delta {
  const text = textAt(members, "text", at);
  if (text.length === 0 || text.length > DELTA_CHARACTERS) {
    throw malformed(`${at}/text`, `must have 1 to ${DELTA_CHARACTERS} characters`);
  }
  return {
    handoffId: textAt(members, "handoff_id", at),
    attempt: countAt(members, "attempt", at, 1),
    number: countAt(members, "number", at),
    text,
  };
}

/** The attempt that an agent holds, as far as deltas are concerned. */
export interface HeldAttempt {
  readonly attempt: number;
  readonly delegator: string;
}

/** To whom a hub passes a delta on; undefined where its sender does not hold that attempt. */
export function readerOfDelta(
  held: HeldAttempt | undefined,
  { attempt }: Pick<Delta, "attempt">,
): string | undefined {
  return held?.attempt === attempt ? held.delegator : undefined;
}

/** The delta that was shown last. */
export type LastDelta = Pick<Delta, "attempt" | "number">;

/** Whether a delta goes on from the last one: what comes twice or too late is not shown. */
export function isNextDelta(last: LastDelta | undefined, { attempt, number }: LastDelta): boolean {
  if (last === undefined || attempt > last.attempt) return true;
  return attempt === last.attempt && number > last.number;
}

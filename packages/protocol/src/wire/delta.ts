import { countAt, malformed, textAt } from "./members.ts";
import type { Members } from "./members.ts";

/** The longest delta, in UTF-16 code units. */
export const DELTA_CHARACTERS = 4_096;

/** A piece of what a recipient is writing, as the recipient sends it. */
export interface WireDelta {
  readonly handoff_id: string;
  readonly attempt: number;
  /** The number of the delta within its attempt, counted from 0: a gap means that one was lost. */
  readonly number: number;
  readonly text: string;
}

/** The same as the hub forwards it to the delegator. */
export interface WireShownDelta extends WireDelta {
  /** The agent that writes. */
  readonly by: string;
}

/**
 * A piece of what a recipient is writing. It is unsigned, delivered at most once, and not recorded: it
 * is for display only, and the signed result replaces it.
 */
export interface Delta {
  readonly handoffId: string;
  readonly attempt: number;
  /** The number of the delta within its attempt, counted from 0: a gap means that one was lost. */
  readonly number: number;
  readonly text: string;
}

/** A delta with the agent from which the hub received it. */
export interface ShownDelta extends Delta {
  readonly by: string;
}

/** A delta as JSON. */
export function writeDelta({ handoffId, attempt, number, text }: Delta): WireDelta {
  return { handoff_id: handoffId, attempt, number, text };
}

/** Reads the output of `writeDelta`; `at` is its place in the message. */
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

/** The agent to which a hub forwards a delta; undefined if its sender does not hold that attempt. */
export function readerOfDelta(
  held: HeldAttempt | undefined,
  { attempt }: Pick<Delta, "attempt">,
): string | undefined {
  return held?.attempt === attempt ? held.delegator : undefined;
}

/** The last delta that was shown. */
export type LastDelta = Pick<Delta, "attempt" | "number">;

/** Whether a delta continues after the last one: duplicates and late ones are not shown. */
export function isNextDelta(last: LastDelta | undefined, { attempt, number }: LastDelta): boolean {
  if (last === undefined || attempt > last.attempt) return true;
  return attempt === last.attempt && number > last.number;
}

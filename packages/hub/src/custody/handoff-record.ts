import { sessionHolderOf, liveAttempt, wakeAt } from "@waybill/protocol/hub";
import type { Asker, Digest, Group, SessionState, StatusCode, Wanted } from "@waybill/protocol";
import type { Handoff } from "@waybill/protocol/hub";
import type { StoredHandoff } from "../store.ts";

/** A question envelope, by its digest: the envelope itself is in the ledger. */
export interface AskedQuestion {
  readonly digest: Digest;
  readonly attempt: number;
  readonly questions: readonly string[];
}

/** What is left to do about an end, or about a member of a group that had ended, once it is on disk. */
export type AfterEnd = "children" | "group" | "dead_letter";

/** What the engine keeps of a handoff. Envelopes stand in the ledger once, and here by digest. */
export interface HandoffRecord {
  readonly state: Handoff;
  readonly to: string | Wanted;
  /** The key that its delegator has signed it with. */
  readonly kid: string;
  readonly capability: string;
  readonly correlationId: string;
  /** Its place among those that wait; missing in a record from before there were places. */
  readonly queuePlace?: number | undefined;
  readonly traceId: string | null;
  readonly parentId: string | null;
  readonly hop: number;
  readonly group: {
    readonly id: string;
    readonly index: number;
    readonly size: number;
    readonly join: Group["join"];
    readonly quorum: number | null;
    readonly onFailure: "cancel" | "wait";
  } | null;
  /** Where it names a session. */
  readonly session?: SessionRecord | undefined;
  readonly replayOf: string | null;
  readonly acceptance: Digest | null;
  readonly asked: readonly AskedQuestion[];
  readonly answers: readonly Digest[];
  /** How long they are together. */
  readonly answerCharacters: number;
  readonly notice: Digest | null;
  /** The most telling word of a recipient that has not ended it. */
  readonly cause?: Cause | undefined;
  /** Why it is a dead letter, in a sentence. */
  readonly reason?: string | undefined;
  /** Due to be offered, and nobody there to offer it to. */
  readonly isWaiting: boolean;
  readonly hasChildren: boolean;
  readonly afterEnd: readonly AfterEnd[];
  readonly replayedBy: string | null;
  /** The blobs that it and its results name, as `BLOB_ROWS` has them; missing where there are none. */
  readonly blobs?: readonly string[] | undefined;
  /** How many late envelopes are on record, by the attempt that they speak of; 0 for the delegator's. */
  readonly late: Readonly<Record<number, number>>;
}

/** The session of a handoff. */
export interface SessionRecord {
  /** It is found by this: the key of the session, and the capability. */
  readonly name: string;
  /** How long it may wait for the holder. */
  readonly waitMs: number;
  /** When it came to its holder, or has left one. */
  readonly at: number;
  /** What the last offer said of the session. */
  readonly offered?: SessionState | undefined;
  /** The holder that it waits for, before others. */
  readonly awaits?: string | undefined;
}

/** What a recipient has said of an attempt that it did not complete. */
export interface Cause {
  readonly by: string;
  readonly status: StatusCode;
  readonly message: string;
}

export interface VersionedRecord {
  readonly version: number;
  readonly record: HandoffRecord;
}

export function recordOf(stored: StoredHandoff): VersionedRecord {
  return { version: stored.version, record: JSON.parse(stored.record) as HandoffRecord };
}

/** Who has handed it off, as far as permission goes. */
export function askerOf({ state, kid }: HandoffRecord): Asker {
  return { agent: state.delegator, kid };
}

/** Whom it waits for: an agent by name, or whoever offers the capability. */
export function targetOf({ state, capability }: HandoffRecord): string {
  const agent = state.resumes?.recipient ?? state.recipient;
  return agent === null ? `capability:${capability}` : `agent:${agent}`;
}

export function storedOf({ version, record }: VersionedRecord): StoredHandoff {
  const { state } = record;
  const session = sessionHolderOf(state) === undefined ? undefined : record.session;
  return {
    id: state.id,
    version,
    record: JSON.stringify(record),
    state: state.state,
    delegator: state.delegator,
    correlationId: record.correlationId,
    parentId: record.parentId,
    groupId: record.group?.id ?? null,
    wakeAt: wakesAt(record),
    waitsFor: record.isWaiting ? targetOf(record) : null,
    waitsAt: record.isWaiting ? (record.queuePlace ?? 0) : 0,
    session: session?.name ?? null,
    sessionAt: session?.at ?? 0,
    inboxes: inboxesOf(record),
    isDeadLetter:
      state.state === "dead_lettered" && !state.isDiscarded && record.replayedBy === null,
  };
}

function wakesAt({ state, afterEnd, isWaiting }: HandoffRecord): number | null {
  // Due at once, so that a crash between the end and what follows from it leaves nothing undone.
  if (afterEnd.length > 0) return 0;
  return isWaiting ? state.deadline : wakeAt(state);
}

/** No agent has such an id: under it a store finds what a delegator has open. */
export function openBoxOf(delegator: string): string {
  return `open:${delegator}`;
}

function inboxesOf(record: HandoffRecord): string[] {
  const agents = agentsOf(record);
  const { state, delegator } = record.state;
  return state === "open" ? [...agents, openBoxOf(delegator)] : agents;
}

function agentsOf(record: HandoffRecord): string[] {
  const agents: string[] = [];
  if (envelopesForDelegator(record).length > 0) agents.push(record.state.delegator);
  const live = liveAttempt(record.state);
  if (live !== undefined && live.recipient !== agents[0]) agents.push(live.recipient);
  return agents;
}

/** What the delegator must have seen, in order. */
export function envelopesForDelegator(record: HandoffRecord): Digest[] {
  const { state, acceptance } = record;
  if (state.isAcknowledged) return [];
  const ending = endingOf(record);
  return [
    ...(acceptance === null ? [] : [acceptance]),
    ...(ending === null ? openQuestions(record).map(({ digest }) => digest) : [ending]),
  ];
}

export function endingOf({ state, notice }: HandoffRecord): Digest | null {
  return state.outcome ?? notice;
}

/** What an attempt waits for, or has paused for. Nobody can answer one that ended in another way. */
export function openQuestions({ state, asked }: HandoffRecord): AskedQuestion[] {
  const open = state.questions.filter(({ answer, attempt }) => {
    const closed = state.attempts[attempt - 1]!.closed;
    return answer === null && (closed === null || closed === "paused");
  });
  return asked.filter((each) =>
    open.some(({ id, attempt }) => attempt === each.attempt && each.questions.includes(id)),
  );
}

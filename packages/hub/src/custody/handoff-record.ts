import { sessionHolderOf, liveAttempt, wakeAt } from "@waybill/protocol/hub";
import { askerOf, principalOf } from "@waybill/protocol";
import type {
  Asker,
  Digest,
  Group,
  HandoffEnvelope,
  SessionState,
  StatusCode,
  Wanted,
} from "@waybill/protocol";
import type { Handoff } from "@waybill/protocol/hub";
import type { StoredHandoff } from "../store.ts";

/** A question envelope, by its digest: the envelope itself is in the ledger. */
export interface AskedQuestion {
  readonly digest: Digest;
  readonly attempt: number;
  readonly questions: readonly string[];
}

/** The work that remains after an end, or after a new member of a decided group, once that is on disk. */
export type AfterEnd = "children" | "group" | "dead_letter";

/** What the engine stores of a handoff. Envelopes are in the ledger once, and here by digest. */
export interface HandoffRecord {
  readonly state: Handoff;
  readonly to: string | Wanted;
  /** The key of its delegator's signature. */
  readonly kid: string;
  /** For whom its delegator acts; missing if it acts for itself. */
  readonly onBehalfOf?: string | undefined;
  readonly capability: string;
  readonly correlationId: string;
  /** Its place among the waiting handoffs; missing in records that predate places. */
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
  /** Present if it names a session. */
  readonly session?: SessionRecord | undefined;
  readonly replayOf: string | null;
  readonly acceptance: Digest | null;
  readonly asked: readonly AskedQuestion[];
  readonly answers: readonly Digest[];
  /** The total length of the answers. */
  readonly answerCharacters: number;
  readonly notice: Digest | null;
  /** The most relevant statement of a recipient that has not completed it. */
  readonly cause?: Cause | undefined;
  /** Why it is a dead letter, in a sentence. */
  readonly reason?: string | undefined;
  /** Due to be offered, but no agent can take it. */
  readonly isWaiting: boolean;
  readonly hasChildren: boolean;
  readonly afterEnd: readonly AfterEnd[];
  readonly replayedBy: string | null;
  /** The blobs that it and its results refer to, as in `BLOB_ROWS`; missing if there are none. */
  readonly blobs?: readonly string[] | undefined;
  /** How many late envelopes are on record, by their attempt; 0 for the delegator's. */
  readonly late: Readonly<Record<number, number>>;
}

/** The session of a handoff. */
export interface SessionRecord {
  /** The name by which it is found: the key of the session, and the capability. */
  readonly name: string;
  /** How long it may wait for the holder. */
  readonly waitMs: number;
  /** When it reached its holder, or left one. */
  readonly at: number;
  /** What the last offer said about the session. */
  readonly offered?: SessionState | undefined;
  /** The holder that it waits for, before others. */
  readonly awaits?: string | undefined;
}

/** What a recipient has said about an attempt that it did not complete. */
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

/** Its principal, for checking permissions. */
export function askerOfRecord({ state, kid, onBehalfOf }: HandoffRecord): Asker {
  return askerOf({ from: state.delegator, on_behalf_of: onBehalfOf }, kid);
}

/** Those whose open handoffs it is one of: its delegator, and its principal if that is another. */
export function ownersOf({ state, onBehalfOf }: HandoffRecord): readonly string[] {
  return ownersIn({ from: state.delegator, on_behalf_of: onBehalfOf });
}

export function ownersIn(
  handoff: Pick<HandoffEnvelope, "from" | "on_behalf_of">,
): readonly string[] {
  const principal = principalOf(handoff);
  return principal === handoff.from ? [principal] : [handoff.from, principal];
}

/** Whom it waits for: an agent by name, or any agent with the capability. */
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
  // Due at once, so that a crash between the end and its consequences leaves nothing undone.
  if (afterEnd.length > 0) return 0;
  return isWaiting ? state.deadline : wakeAt(state);
}

const OPEN_BOX = "open:";

/** No agent has such an id. A store finds the open handoffs of a delegator or a principal under it. */
export function openBoxOf(owner: string): string {
  return OPEN_BOX + owner;
}

/** Whose open handoff it is, by its inboxes; nobody's once it has ended. */
export function ownersOfStored({ inboxes }: Pick<StoredHandoff, "inboxes">): readonly string[] {
  return inboxes.flatMap((each) =>
    each.startsWith(OPEN_BOX) ? [each.slice(OPEN_BOX.length)] : [],
  );
}

function inboxesOf(record: HandoffRecord): string[] {
  const agents = agentsOf(record);
  return record.state.state === "open" ? [...agents, ...ownersOf(record).map(openBoxOf)] : agents;
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

/**
 * The questions that an attempt waits for or has paused for. Questions of attempts that ended
 * otherwise can't be answered.
 */
export function openQuestions({ state, asked }: HandoffRecord): AskedQuestion[] {
  const open = state.questions.filter(({ answer, attempt }) => {
    const closed = state.attempts[attempt - 1]!.closed;
    return answer === null && (closed === null || closed === "paused");
  });
  return asked.filter((each) =>
    open.some(({ id, attempt }) => attempt === each.attempt && each.questions.includes(id)),
  );
}

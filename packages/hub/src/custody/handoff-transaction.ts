import { principalOf, sessionKey } from "@waybill/protocol";
import { eventOf, sessionHolderOf, queuePlace, step } from "@waybill/protocol/hub";
import type {
  Digest,
  Envelope,
  HandoffEnvelope,
  StatusCode,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type {
  Attempt,
  LifecycleEffect,
  LifecycleEvent,
  LifecycleTerms,
  Outcome,
} from "@waybill/protocol/hub";
import type { NewEntry, SettingChange } from "../store.ts";
import { decisionEntry, envelopeEntry } from "./entries.ts";
import type { Decision, HubEvent } from "./entries.ts";
import type { AfterEnd, Cause, HandoffRecord, VersionedRecord } from "./handoff-record.ts";

/** What the hub sends once the transaction is on disk. */
export type Outgoing =
  | {
      readonly type: "envelope";
      readonly to: string;
      readonly digest: Digest;
      readonly text: string;
      readonly at: number;
    }
  | { readonly type: "offer"; readonly to: string; readonly attempt: number }
  | {
      readonly type: "stop";
      readonly to: string;
      readonly attempt: number;
      readonly status: StatusCode;
    };

/** A hub's event without its time, which the transaction has. */
export type HubMove = HubEvent extends infer Event
  ? Event extends HubEvent
    ? Omit<Event, "at">
    : never
  : never;

/** An envelope signed by a party. */
interface SignedText {
  readonly digest: Digest;
  readonly text: string;
  readonly kid: string;
}

/**
 * How many late envelopes of an attempt are recorded: a process that does not stop must not fill the
 * ledger.
 */
const LATE_AT_MOST = 16;

/** The changes of one commit to one handoff: its next record, the ledger entries, the messages to send. */
export class HandoffTransaction {
  readonly at: number;
  readonly before: HandoffRecord | undefined;
  record: HandoffRecord | undefined;
  readonly entries: NewEntry[] = [];
  readonly outgoing: Outgoing[] = [];
  /** Settings that the commit changes. If one was changed meanwhile, the transaction is made again. */
  readonly settings: SettingChange[] = [];
  /** The envelope that was applied, which the hub confirms by a receipt. */
  applied: VerifiedEnvelope | undefined;
  /** The hub's receipt for it, which is sent once it is on disk, and the transaction with it. */
  receipt: VerifiedEnvelope | undefined;
  /** The envelope of the handoff, if it is in memory. */
  handoff: HandoffEnvelope | undefined;
  /** The last event of the hub itself. */
  lastMove: HubMove["type"] | undefined;
  /** It must be offered if an agent can take it, even if this change did not alter the record. */
  wantsOffer = false;
  /** Written even if nothing has changed, because the record on disk is older than the one in memory. */
  isForced = false;

  /** The version of the record before; 0 if there is none. */
  readonly version: number;

  constructor(before: VersionedRecord | undefined, at: number) {
    this.before = before?.record;
    this.version = before?.version ?? 0;
    this.record = before?.record;
    this.at = at;
  }

  get isChanged(): boolean {
    return this.record !== this.before || this.isForced;
  }

  get hasEnded(): boolean {
    return this.before?.state.state !== this.record?.state.state && !this.isOpen;
  }

  get isOpen(): boolean {
    return this.record?.state.state === "open";
  }

  get #isOverdue(): boolean {
    return this.isOpen && this.at >= this.record!.state.deadline;
  }

  /** Applies a party's envelope; returns the status for its sender. */
  apply(verified: VerifiedEnvelope, terms?: LifecycleTerms): StatusCode {
    const { envelope, digest, text, kid } = verified;
    const found = eventOf(envelope, digest, this.at);
    // Custody receipts and notices are the hub's own: it accepts none from others.
    if (found === undefined) return 403;
    const event = found.type === "submit" && terms !== undefined ? { ...found, terms } : found;
    const status = this.#step(event, { digest, text, kid }, envelope);
    if (status !== 100) return status;
    if (terms !== undefined && event.type === "submit") {
      this.note({ type: "bound", digest, terms });
    }
    this.entries.push(envelopeEntry(this.at, verified));
    this.applied = verified;
    return status;
  }

  /** Puts the hub's receipt on record, next to what it confirms. */
  confirm(receipt: VerifiedEnvelope): void {
    this.receipt = receipt;
    this.entries.push(envelopeEntry(this.at, receipt));
  }

  /** Puts a late envelope on record, with the answer that it got. Beyond a limit nothing more is recorded. */
  refuse(verified: VerifiedEnvelope, status: StatusCode): void {
    const { late } = this.record!;
    const { attempt = 0 } = verified.envelope as { attempt?: number };
    const count = late[attempt] ?? 0;
    if (count >= LATE_AT_MOST) return;
    this.amend({ late: { ...late, [attempt]: count + 1 } });
    this.note({ type: "refused", digest: verified.digest, status });
    this.entries.push(envelopeEntry(this.at, verified));
  }

  /** Applies an event of the hub itself. `details` are put on record with it. */
  decide(move: HubMove, details: object = {}): StatusCode {
    if (this.#isOverdue && move.type !== "expire") {
      this.decide({ type: "expire" });
      return 410;
    }
    this.lastMove = move.type;
    const event = { ...move, at: this.at } as HubEvent;
    const status = this.#step(event, undefined, undefined);
    if (status === 100) this.note({ ...event, ...details });
    return status;
  }

  /** Applies an event that is kept in memory, without an entry in the ledger. */
  frame(event: LifecycleEvent): StatusCode {
    // The event would expire the handoff without an entry in the ledger.
    if (this.#isOverdue) return 410;
    return this.#step(event, undefined, undefined);
  }

  note(decision: Decision, handoffId: string = this.record!.state.id): void {
    this.entries.push(decisionEntry(this.at, handoffId, decision));
  }

  amend(change: Partial<HandoffRecord>): void {
    this.record = { ...this.record!, ...change };
  }

  change(...settings: readonly SettingChange[]): void {
    this.settings.push(...settings);
  }

  addAfterEnd(followUp: AfterEnd): void {
    this.amend({ afterEnd: [...this.record!.afterEnd, followUp] });
  }

  /** The outcomes of the attempts that this transaction closes, each with its recipient. */
  outcomes(): (Outcome & { readonly recipient: string })[] {
    const attempts: readonly Attempt[] = this.record?.state.attempts ?? [];
    return attempts.flatMap(({ closed, status, recipient }, index) => {
      const before = this.before?.state.attempts[index];
      if (closed === null || before?.closed != null) return [];
      const isAccepted = before?.state === "accepted" || before?.state === "waiting";
      return [{ status, closed, at: this.at, isAccepted, recipient }];
    });
  }

  #step(
    event: LifecycleEvent,
    signed: SignedText | undefined,
    envelope: Envelope | undefined,
  ): StatusCode {
    const before = this.record?.state;
    const { state, effects } = step(before, event);
    const [reply] = effects;
    const status = reply?.type === "reply" ? reply.status : 500;
    if (state === undefined || state === before) return status;
    if (this.record === undefined) {
      this.record = newRecord(envelope as HandoffEnvelope, state, signed!.kid);
      this.handoff = envelope as HandoffEnvelope;
    } else this.amend({ state });
    this.#noteHolder(before, event);
    if (signed !== undefined) this.#noteEnvelope(event, signed);
    const cause = envelope && causeIn(envelope, this.record.cause);
    if (cause !== undefined) this.amend({ cause });
    for (const effect of effects) this.#send(effect, event, signed);
    return status;
  }

  #noteEnvelope(
    event: LifecycleEvent,
    { digest, text }: Pick<SignedText, "digest" | "text">,
  ): void {
    const record = this.record!;
    if (event.type === "accept") this.amend({ acceptance: digest });
    else if (event.type === "answer") {
      const answerCharacters = record.answerCharacters + text.length;
      this.amend({ answers: [...record.answers, digest], answerCharacters });
    } else if (event.type === "question" || event.type === "pause") {
      const { attempt, questions } = event;
      this.amend({ asked: [...record.asked, { digest, attempt, questions }] });
    }
  }

  #send(
    effect: LifecycleEffect,
    event: LifecycleEvent,
    signed: Pick<SignedText, "digest" | "text"> | undefined,
  ): void {
    const { state } = this.record!;
    if (effect.type === "offer") {
      this.amend({ isWaiting: false });
      this.#noteOffer(event);
      this.outgoing.push({ type: "offer", to: effect.recipient, attempt: effect.attempt });
    } else if (effect.type === "stop") {
      const { recipient: to, attempt, status } = effect;
      this.outgoing.push({ type: "stop", to, attempt, status });
    } else if (effect.type === "forward" && signed !== undefined) {
      const to =
        effect.to === "delegator" ? state.delegator : state.attempts[effect.attempt - 1]!.recipient;
      this.#forward(to, signed);
    } else if (effect.type === "ended") {
      this.amend({ isWaiting: false });
      if (signed?.digest === state.outcome && signed !== undefined) {
        this.#forward(state.delegator, signed);
      }
    }
  }

  /** The recipient holds the session from the first envelope of its attempt, and again from its result. */
  #noteHolder(before: HandoffRecord["state"] | undefined, { type }: LifecycleEvent): void {
    const { session, state } = this.record!;
    if (session === undefined) return;
    const isAnother = before === undefined || sessionHolderOf(before) !== sessionHolderOf(state);
    if (isAnother || type === "result") this.amend({ session: { ...session, at: this.at } });
  }

  #noteOffer(event: LifecycleEvent): void {
    const { session } = this.record!;
    if (session === undefined || event.type !== "offer") return;
    this.amend({ session: { ...session, offered: event.session } });
  }

  #forward(to: string, { digest, text }: Pick<SignedText, "digest" | "text">): void {
    this.outgoing.push({ type: "envelope", to, digest, text, at: this.at });
  }
}

function newRecord(
  envelope: HandoffEnvelope,
  state: HandoffRecord["state"],
  kid: string,
): HandoffRecord {
  return {
    state,
    to: envelope.to,
    kid,
    onBehalfOf: envelope.on_behalf_of,
    capability: typeof envelope.to === "string" ? envelope.body.capability : envelope.to.capability,
    correlationId: envelope.correlation_id,
    queuePlace: queuePlace(state.nextAttemptAt!, envelope.priority),
    traceId: traceIdOf(envelope),
    parentId: envelope.parent_id ?? null,
    hop: envelope.hop ?? 0,
    group: groupOf(envelope),
    session: sessionOf(envelope),
    replayOf: envelope.replay_of ?? null,
    acceptance: null,
    asked: [],
    answers: [],
    answerCharacters: 0,
    notice: null,
    isWaiting: false,
    hasChildren: false,
    afterEnd: [],
    replayedBy: null,
    late: {},
  };
}

const MESSAGE_CHARACTERS = 300;

/** A recipient's statement against an attempt. A verdict is more relevant than a release. */
function causeIn(envelope: Envelope, before: Cause | undefined): Cause | undefined {
  const { kind, from: by, body } = envelope;
  if (kind !== "result" && kind !== "receipt") return undefined;
  const { status } = body;
  const said = kind === "result" ? body.error?.message : body.reason;
  if (status < 300 || said === undefined || said === "") return undefined;
  if (status < 400 && before !== undefined) return undefined;
  return { by, status, message: said.slice(0, MESSAGE_CHARACTERS) };
}

function groupOf({ group }: HandoffEnvelope): HandoffRecord["group"] {
  if (group === undefined) return null;
  const { id, index, size, join, quorum = null, on_failure: onFailure = "cancel" } = group;
  return { id, index, size, join, quorum, onFailure };
}

/** An agent holds a session for one capability: its work for another is another conversation. */
function sessionOf(envelope: HandoffEnvelope): HandoffRecord["session"] {
  const { session, to, body } = envelope;
  if (session === undefined) return undefined;
  const capability = typeof to === "string" ? body.capability : to.capability;
  const name = `${sessionKey(principalOf(envelope), session.id)} ${capability}`;
  return { name, waitMs: (session.wait_seconds ?? 0) * 1_000, at: 0 };
}

/** The part of a W3C traceparent that all spans of a job share. */
export function traceIdOf({ traceparent }: Envelope): string | null {
  return traceparent?.slice(3, 35) ?? null;
}

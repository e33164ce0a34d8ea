import type { ReceiptBody, ResultBody } from "../envelope/body.ts";
import type { Digest } from "../signing/digest.ts";
import type { Envelope, HandoffEnvelope } from "../envelope/envelope.ts";
import { isAddressed } from "../lifecycle/addressee.ts";
import { eventOf } from "../lifecycle/event.ts";
import type { Handoff } from "../lifecycle/handoff.ts";
import type { EntryOf, HistoryEntry, HubEvent } from "./history-record.ts";
import { step } from "../lifecycle/lifecycle.ts";
import type { StatusCode } from "../status.ts";
import { dueEvent, isOfferDue, wakeAt } from "../lifecycle/timer.ts";

export const HUB = "hub";
const DOMAIN = "A".repeat(43);
const EPOCH = Date.UTC(2026, 0, 1);
const TRACE = "0123456789abcdef0123456789abcdef";

export type EnvelopeEntry = EntryOf<"envelope">;
type Rest<Value> = Value extends unknown ? Omit<Value, "at"> : never;
export type Unstamped = Rest<HubEvent>;

/** A minimal hub: everything it receives goes through the reducer and is recorded. */
export class HistoryWriter {
  readonly entries: HistoryEntry[] = [];
  readonly states: Map<string, Handoff> = new Map<string, Handoff>();
  readonly envelopes: Map<string, HandoffEnvelope> = new Map<string, HandoffEnvelope>();
  now: number = EPOCH;
  #count = 0;

  digest(): Digest {
    return `sha256:${String(++this.#count).padStart(64, "0")}`;
  }

  /** Submits an envelope, and returns the hub's answer. */
  send(envelope: Envelope, digest: Digest = this.digest()): StatusCode | undefined {
    const id = envelope.handoff_id;
    const event = eventOf(envelope, digest, this.now);
    const entry = { type: "envelope", at: this.now, digest, envelope } as const;
    if (event === undefined) {
      this.entries.push(entry);
      return undefined;
    }
    const before = this.states.get(id);
    if (before !== undefined && !isAddressed(envelope, before, HUB)) {
      this.entries.push({ ...entry, status: 403 });
      return 403;
    }
    const { state, effects } = step(before, event);
    const status = effects[0]?.type === "reply" ? effects[0].status : undefined;
    this.entries.push({ ...entry, status });
    if (state !== undefined) this.states.set(id, state);
    return status;
  }

  submit(id: string, over: Partial<HandoffEnvelope> = {}): StatusCode | undefined {
    const envelope: HandoffEnvelope = {
      ...this.#base(id, "d", "job"),
      kind: "handoff",
      domain: DOMAIN,
      to: "r",
      deadline: new Date(this.now + 60_000).toISOString(),
      traceparent: `00-${TRACE}-0123456789abcdef-01`,
      body: { capability: "research" },
      ...over,
    };
    const status = this.send(envelope);
    if (status !== 100) return status;
    this.envelopes.set(id, envelope);
    const re = this.states.get(id)!.digest;
    this.send({
      ...this.about(id, HUB),
      kind: "receipt",
      to: envelope.from,
      re,
      body: { status: 100 },
    });
    return status;
  }

  hub(id: string, event: Unstamped): void {
    const stamped = { ...event, at: this.now } as HubEvent;
    const { state } = step(this.states.get(id), stamped);
    if (state !== undefined) this.states.set(id, state);
    this.entries.push({ type: "event", at: this.now, handoff_id: id, event: stamped });
  }

  receipt(id: string, body: ReceiptBody): StatusCode | undefined {
    return this.send({ ...this.ofRecipient(id), kind: "receipt", body });
  }
  progress(id: string): StatusCode | undefined {
    return this.send({ ...this.ofRecipient(id), kind: "progress", body: {} });
  }
  question(id: string, question: string, state?: string): StatusCode | undefined {
    const body = { questions: [{ id: question }], ...(state !== undefined && { state }) };
    return this.send({ ...this.ofRecipient(id), kind: "question", body });
  }
  result(id: string, body: ResultBody = { status: 200, output: 1 }): StatusCode | undefined {
    return this.send({ ...this.ofRecipient(id), kind: "result", body });
  }
  answer(id: string, question: string): StatusCode | undefined {
    const body = { question_id: question, answer: "yes" };
    const { digest } = this.states.get(id)!;
    const { from: to } = this.ofRecipient(id);
    return this.send({ ...this.ofDelegator(id), to, kind: "answer", re: digest, body });
  }
  cancel(id: string): StatusCode | undefined {
    return this.send({ ...this.ofDelegator(id), kind: "cancel", body: {} });
  }
  acknowledge(id: string): StatusCode | undefined {
    const state = this.states.get(id)!;
    const re = state.outcome ?? state.digest;
    return this.send({ ...this.ofDelegator(id), kind: "receipt", re, body: { status: 200 } });
  }
  apply(id: string, digest: Digest | null = this.states.get(id)!.outcome, by?: string): void {
    this.entries.push({
      type: "applied",
      at: this.now,
      handoff_id: id,
      digest: digest!,
      by: by ?? this.envelopes.get(id)?.from ?? "d",
    });
  }
  effect(id: string, key: string = id): void {
    this.entries.push({ type: "effect", at: this.now, handoff_id: id, key });
  }

  /** Advances the clock to the next due time of this handoff, and applies what is due. */
  clock(id: string, recipient: string): void {
    const state = this.states.get(id)!;
    const wake = wakeAt(state);
    if (wake === null) return;
    this.now = Math.max(this.now, wake);
    const due = dueEvent(state, this.now);
    if (due !== undefined) this.hub(id, due as HubEvent);
    else if (isOfferDue(state, this.now)) {
      const only = state.resumes?.recipient ?? state.recipient;
      const refusers = state.attempts.filter(({ closed }) => closed === "rejected");
      const isLeft = (each: string) => refusers.every((attempt) => attempt.recipient !== each);
      const next = only ?? [recipient, "r", "s"].find(isLeft);
      if (next === undefined) this.hub(id, { type: "dead_letter", status: 404 });
      else this.hub(id, { type: "offer", recipient: next });
    }
  }

  ofRecipient(id: string): Common & { attempt: number; re: Digest } {
    const { attempts, digest } = this.states.get(id)!;
    const from = attempts.at(-1)?.recipient ?? "r";
    return { ...this.about(id, from), attempt: attempts.length, re: digest };
  }
  ofDelegator(id: string): Common {
    return { ...this.about(id, this.envelopes.get(id)!.from), to: HUB };
  }
  about(id: string, from: string): Common {
    const { correlation_id, from: to, traceparent } = this.envelopes.get(id)!;
    return { ...this.#base(id, from, correlation_id), to, ...(traceparent && { traceparent }) };
  }
  #base(id: string, from: string, correlationId: string): Base {
    return {
      waybill: 1,
      id: `e${++this.#count}`,
      from,
      handoff_id: id,
      correlation_id: correlationId,
      issued_at: new Date(this.now).toISOString(),
      salt: "AAAAAAAAAAAAAAAAAAAAAA",
    };
  }
}

interface Base {
  waybill: 1;
  id: string;
  from: string;
  handoff_id: string;
  correlation_id: string;
  issued_at: string;
  salt: string;
}
interface Common extends Base {
  to: string;
  traceparent?: string | undefined;
}

/** A valid record of one handoff from custody to its end. Nine entries. */
export function writePlain(writer: HistoryWriter, id: string): void {
  writer.submit(id);
  writer.hub(id, { type: "offer", recipient: "r" });
  writer.receipt(id, { status: 101 });
  writer.progress(id);
  writer.result(id);
  writer.acknowledge(id);
  writer.apply(id);
  writer.effect(id);
}

/** A random job with children, groups, faults of all kinds and a clock; the caller makes every choice. */
export function writeJob(
  writer: HistoryWriter,
  choose: (below: number) => number,
  count: number,
  length: number,
): void {
  const ids = Array.from({ length: count }, (_, index) => `h${index}`);
  const submitted: string[] = [];
  for (const [index, id] of ids.entries()) {
    const parent = submitted[0];
    const isChild = parent !== undefined && choose(2) === 0;
    const deadline = isChild
      ? writer.envelopes.get(parent)!.deadline
      : new Date(writer.now + 1_000 + choose(90_000)).toISOString();
    const status = writer.submit(id, {
      deadline,
      ...(isChild && { parent_id: parent }),
      ...(choose(2) === 0 && { to: { capability: "research" } }),
      group: { id: "g", index, size: count, join: "all" },
      body: { capability: "research", contract: { max_attempts: 1 + choose(3), lease_seconds: 1 } },
    });
    if (status === 100) submitted.push(id);
    act(writer, choose, submitted, length);
  }
  for (const id of submitted) {
    while (writer.states.get(id)!.state === "open") writer.clock(id, "r");
    settle(writer, choose, id);
  }
}

function act(
  writer: HistoryWriter,
  choose: (below: number) => number,
  ids: readonly string[],
  length: number,
): void {
  for (let turn = 0; turn < length && ids.length > 0; turn++) {
    const id = ids[choose(ids.length)]!;
    writer.now += choose(300);
    const attempt = writer.states.get(id)!.attempts.length;
    const question = ["q", "p"][choose(2)]!;
    const acts: (() => unknown)[] = [
      () => writer.clock(id, ["r", "s"][choose(2)]!),
      () => writer.clock(id, ["r", "s"][choose(2)]!),
      () => writer.clock(id, ["r", "s"][choose(2)]!),
      () => writer.receipt(id, { status: 101 }),
      () => writer.receipt(id, { status: 101 }),
      () => writer.progress(id),
      () => writer.question(id, question),
      () => writer.question(id, question, "state"),
      () => writer.answer(id, question),
      () => writer.answer(id, question),
      () => writer.receipt(id, { status: 301, retry_after_ms: choose(500) }),
      () => writer.receipt(id, { status: choose(2) === 0 ? 404 : 422 }),
      () => writer.hub(id, { type: "taken", by: "r", attempt }),
      () => writer.hub(id, { type: "heartbeat", by: "r", attempt }),
      () => writer.result(id),
      () => writer.result(id, { status: 501 }),
      () => writer.result(id, { status: 500, error: { message: "no", retryable: true } }),
      () => writer.result(id, { status: 500 }),
      () => choose(4) === 0 && writer.cancel(id),
      () => choose(8) === 0 && writer.submit(id),
      // Somebody who knows the id, and is no party.
      () => writer.send({ ...writer.ofRecipient(id), from: "x", kind: "progress", body: {} }),
      () => writer.send({ ...writer.ofDelegator(id), from: "x", kind: "cancel", body: {} }),
      // A party that addresses its envelope to the wrong one.
      () => writer.send({ ...writer.ofRecipient(id), to: "x", kind: "progress", body: {} }),
      () => writer.send({ ...writer.ofDelegator(id), to: "x", kind: "cancel", body: {} }),
    ];
    acts[choose(acts.length)]!();
  }
}

function settle(writer: HistoryWriter, choose: (below: number) => number, id: string): void {
  const { state, outcome } = writer.states.get(id)!;
  if (choose(2) === 0 && outcome !== null) writer.result(id);
  if (state === "completed") {
    writer.apply(id);
    writer.effect(id);
    writer.acknowledge(id);
    if (choose(2) === 0) writer.acknowledge(id);
  }
  if (state === "dead_lettered" && choose(2) === 0) writer.hub(id, { type: "discard" });
}

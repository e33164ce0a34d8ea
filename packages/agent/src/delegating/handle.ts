import { createReply, digestOf, WaybillError } from "@waybill/protocol";
import type {
  Digest,
  Envelope,
  HandoffEnvelope,
  Json,
  ReceiptEnvelope,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type { GivenArtifact } from "../artifacts/given.ts";
import type { AgentContext } from "../context.ts";
import { isNextDelta } from "@waybill/protocol/wire";
import type { LastDelta, ReceivedAt, ShownDelta } from "@waybill/protocol/wire";
import { counterOf } from "./counter.ts";
import type { CounterOffer } from "./counter.ts";
import { deferred } from "./deferred.ts";
import { endingOf } from "./ending.ts";
import type { Ending, HandoffResult } from "./ending.ts";
import type { DeltaEvent, ProgressEvent, QuestionEvent, Receipt } from "./events.ts";
import type { HandoffHandle } from "./handoff-handle.ts";
import type { GivenWork } from "./same-work.ts";
import { Stream } from "./stream.ts";
import type { HandoffUsage } from "./usage.ts";

const PROGRESS_KEPT = 1_000;
const QUESTIONS_KEPT = 256;
/** Ten seconds of deltas. */
const DELTAS_KEPT = 200;
/** More than any result can hold. Readers concatenate deltas, and a recipient must not fill their memory. */
const DELTA_CHARACTERS_SHOWN = 4 * 1024 * 1024;
/** How long to retry an acknowledgement during an outage: the hub takes it after the deadline, too. */
const ACKNOWLEDGE_WITHIN_MS = 60_000;
/**
 * How long after the deadline the hub's notice may take. Then the delegator stops waiting, whatever
 * has happened to the hub.
 */
const END_REPORTED_WITHIN_MS = 1_000;
/** How long to wait for the events of a handoff that is looked up after its deadline. */
const FOUND_WITHIN_MS = 60_000;

export interface HandleOptions {
  /** The files to send, as they were given. */
  readonly artifacts?: readonly GivenArtifact[] | undefined;
  /** Acknowledged by the application, and not automatically. */
  readonly isManual: boolean;
  /** Continues with another handoff if the counter-offer is accepted; false if it is not. */
  readonly renew?: ((handle: Handle, counter: CounterOffer) => Promise<boolean>) | undefined;
}

/** The handle of one handoff, with the methods that the agent itself uses. */
export class Handle implements HandoffHandle {
  readonly #context: AgentContext;
  readonly #isManual: boolean;
  /** The files to send, until they were read and uploaded. */
  #given: readonly GivenArtifact[] | undefined;
  /** Aborts the uploads that precede the handoff. */
  #uploading: AbortController | undefined;
  #renew: HandleOptions["renew"];
  /** Settles when it is known which handoff this handle continues with. */
  #renewed: Promise<void> | undefined;
  /** The handoff that ended with an accepted counter-offer. */
  #former: HandoffEnvelope | undefined;
  readonly #custody = deferred<Receipt>();
  readonly #accepted = deferred<Receipt>();
  readonly #result = deferred<HandoffResult>();
  readonly #progress = new Stream<ProgressEvent>(PROGRESS_KEPT);
  readonly #questions = new Stream<QuestionEvent>(QUESTIONS_KEPT);
  /** Created by the first reader: unread deltas are not kept. */
  #deltas: Stream<DeltaEvent> | undefined;
  #lastDelta: LastDelta | undefined;
  #deltaCharacters = 0;
  readonly #asked = new Map<string, { re: Digest; by: string }>();
  readonly #seen = new Set<Digest>();
  #envelope: HandoffEnvelope;
  #text: string | undefined;
  #digest: Digest | undefined;
  #ending: Digest | undefined;
  #usage: HandoffUsage | undefined;
  #acknowledged: Promise<void> | undefined;
  #isAwaited = false;
  /** Rejects if the hub has not reported the end in time. */
  readonly #overdue = deferred<never>();
  /** Nothing more is expected, although the end is unknown here. */
  #isLeft = false;
  #disarm: (() => void) | undefined;

  constructor(
    context: AgentContext,
    envelope: HandoffEnvelope,
    { isManual, renew, artifacts }: HandleOptions,
  ) {
    this.#context = context;
    this.#given = artifacts;
    this.#isManual = isManual;
    this.#renew = renew;
    this.#envelope = envelope;
    this.#expectEnd(END_REPORTED_WITHIN_MS);
  }

  /** `lateMs`: how long to wait from now if the deadline has passed. */
  #expectEnd(lateMs: number): void {
    const { clock } = this.#context;
    this.#disarm?.();
    const at = Math.max(this.#deadline + END_REPORTED_WITHIN_MS, clock.now() + lateMs);
    this.#disarm = clock.setTimer(at, () => {
      const error = endNotReported(this.#envelope);
      this.#overdue.reject(error);
      this.fail(error);
    });
  }

  /** Another one after a counter-offer was accepted. */
  get id(): string {
    return this.#envelope.handoff_id;
  }

  /**
   * The handoff. Until it is in custody, an earlier one with the same id may take its place, and files
   * given by path or stream are not in it yet; after an accepted counter-offer it is the handoff on
   * those terms.
   */
  get envelope(): HandoffEnvelope {
    return this.#envelope;
  }

  /** The handoff as it was signed. Available once it is in custody. */
  get text(): string {
    return this.#text ?? notSignedYet(this.id);
  }

  /** Digest of `text`, which the recipient's acceptance and result name. */
  get digest(): Digest {
    return this.#digest ?? notSignedYet(this.id);
  }

  /** The hub has the handoff on disk, and has signed for it. */
  get custody(): Promise<Receipt> {
    return this.#custody.promise;
  }

  /** A recipient has accepted exactly this handoff, with a signature. */
  get accepted(): Promise<Receipt> {
    return this.#accepted.promise;
  }

  /** The work as it was given: before the upload, files are known only by path. For the agent. */
  get work(): GivenWork {
    const { body } = this.#envelope;
    return { ...body, artifacts: this.#given ?? body.artifacts };
  }

  /** The result; rejects with the WaybillError with which the handoff ended. */
  get result(): Promise<HandoffResult> {
    this.#isAwaited = true;
    this.#acknowledgeByItself();
    return this.#result.promise;
  }

  /** Whether its end is known here. Earlier failures concern this agent only, and the handoff goes on. */
  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  get usage(): HandoffUsage | undefined {
    return this.#usage;
  }

  /**
   * Reports the end before any awaiter of the result continues. For the agent: it does not count as
   * awaiting.
   */
  whenEnded(listener: () => void): void {
    this.#result.promise.then(listener, listener);
  }

  get progress(): AsyncIterable<ProgressEvent> {
    return this.#progress;
  }

  get deltas(): AsyncIterable<DeltaEvent> {
    if (this.#deltas === undefined) {
      this.#deltas = new Stream<DeltaEvent>(DELTAS_KEPT);
      if (this.#isLeft || this.hasEnded) this.#deltas.end();
    }
    return this.#deltas;
  }

  get questions(): AsyncIterable<QuestionEvent> {
    return this.#questions;
  }

  /** False if it had ended before; the result says how. */
  cancel(reason?: string): Promise<boolean> {
    const cancelled = this.#tracked("cancel", this.#cancel(reason));
    return Promise.race([cancelled, this.#overdue.promise]);
  }

  async #cancel(reason: string | undefined): Promise<boolean> {
    if (this.#uploading !== undefined) {
      const why = reason === undefined ? "" : ` ${reason}`;
      this.#uploading.abort(
        new WaybillError(499, `The handoff was cancelled while its files were uploaded.${why}`),
      );
      return true;
    }
    await this.custody;
    await this.#renewed;
    const { to } = this.envelope;
    const { id, hub } = this.#context;
    const text = await this.#signed(
      createReply(
        this.envelope,
        { kind: "cancel", from: id, to: typeof to === "string" ? to : hub.id, body: { reason } },
        this.#context.source,
      ),
    );
    try {
      await this.#send(text, this.#deadline + END_REPORTED_WITHIN_MS);
    } catch (error) {
      if (WaybillError.is(error, 410)) return false;
      throw error;
    }
    await this.receive(text);
    return true;
  }

  /** Answers a question by its id. A second answer is refused with 410 and changes nothing. */
  answer(questionId: string, answer: unknown): Promise<void> {
    const answered = this.#tracked("answer", this.#answer(questionId, answer));
    return Promise.race([answered, this.#overdue.promise]);
  }

  async #answer(questionId: string, answer: unknown): Promise<void> {
    const asked = this.#asked.get(questionId);
    if (asked === undefined) {
      throw new WaybillError(403, `There is no question ${questionId} about ${this.id}.`);
    }
    const { re, by: to } = asked;
    const body = { question_id: questionId, answer: answer as Json };
    const { id: from, source } = this.#context;
    const reply = createReply(this.envelope, { kind: "answer", from, to, re, body }, source);
    await this.#send(await this.#signed(reply), this.#deadline + END_REPORTED_WITHIN_MS);
  }

  /** Tells the hub that the end was processed, so that it is not delivered again. */
  acknowledge(): Promise<void> {
    this.#acknowledged ??= this.#acknowledge();
    return this.#acknowledged;
  }

  async #acknowledge(): Promise<void> {
    await this.#result.promise.then(
      () => undefined,
      () => undefined,
    );
    if (this.#ending === undefined) return;
    await this.#tracked("receipt", this.#confirm(this.envelope, this.#ending));
    this.#forget();
  }

  async #confirm(handoff: HandoffEnvelope, re: Digest): Promise<void> {
    const { id: from, hub, source } = this.#context;
    const body = { status: 200 } as const;
    const receipt = createReply(handoff, { kind: "receipt", from, to: hub.id, re, body }, source);
    await this.#send(await this.#signed(receipt), this.#until);
  }

  #forget(): void {
    this.#context.forget(this.id);
    if (this.#former !== undefined) this.#context.forget(this.#former.handoff_id);
  }

  #acknowledgeByItself(): void {
    if (this.#isManual || !this.#isAwaited || this.#ending === undefined) return;
    const { clock, log, id: agent } = this.#context;
    // A turn later, so that code that awaits the result has run, and could have thrown.
    const { promise, resolve } = deferred<void>();
    void this.#tracked("receipt", promise);
    clock.setTimer(clock.now(), () => {
      this.acknowledge()
        .catch((error: unknown) => log({ event: "failure", agent, handoffId: this.id, error }))
        .finally(resolve);
    });
  }

  /** Continues with the same work on other terms. For the agent. */
  goOnWith(handoff: HandoffEnvelope): void {
    this.#former = this.#envelope;
    this.#envelope = handoff;
  }

  /** Uploads files that are too large for the envelope, which then refers to them. For the agent. */
  async upload(signal: AbortSignal | undefined): Promise<void> {
    if (this.#given === undefined) return;
    const uploading = new AbortController();
    this.#uploading = uploading;
    try {
      const ending = AbortSignal.any([uploading.signal, ...(signal ? [signal] : [])]);
      const artifacts = await this.#context.artifacts.send(this.#given, {
        until: this.#deadline,
        signal: ending,
      });
      const envelope = this.#envelope;
      this.#envelope = { ...envelope, body: { ...envelope.body, artifacts } };
      this.#given = undefined;
    } finally {
      this.#uploading = undefined;
    }
  }

  /** Submits it to the hub. For the agent. */
  async submit(): Promise<void> {
    this.#signedAs(await this.#signed(this.envelope));
    const { envelope, digest, text } = await this.#send(this.text, this.#until, this.digest);
    const { id: agent, log } = this.#context;
    log({ event: "custody", agent, handoffId: this.id });
    this.#custody.resolve({ by: envelope.from, attempt: undefined, digest, text });
  }

  /** Nothing more will be delivered for it here. For the agent. */
  fail(error: WaybillError): void {
    this.#isLeft = true;
    this.#disarm?.();
    this.#custody.reject(error);
    this.#accepted.reject(error);
    this.#result.reject(error);
    this.#endStreams();
    this.#forget();
  }

  /** For a handoff that was found again: it has been in custody all along. */
  found(handoff: HandoffEnvelope, text: string): void {
    const { clock, hub } = this.#context;
    this.#envelope = handoff;
    this.#signedAs(text);
    // Its events follow now; the wait for them begins here, since the deadline may have passed.
    this.#expectEnd(this.#deadline > clock.now() ? END_REPORTED_WITHIN_MS : FOUND_WITHIN_MS);
    this.#custody.resolve({
      by: hub.id,
      attempt: undefined,
      digest: this.digest,
      text: this.text,
    });
  }

  /** All events that the hub had when it was found have been replayed. For the agent. */
  isFound(): void {
    if (!this.hasEnded && !this.#isLeft) this.#expectEnd(END_REPORTED_WITHIN_MS);
  }

  /** Processes a delivery, once, however often it comes. For the agent. */
  async receive(text: string, receivedAt?: ReceivedAt): Promise<void> {
    const { link, peers } = this.#context;
    const verified = await link.retry(() => peers.verify(text, { receivedAt }), this.#until);
    if (this.#isLeft || this.#seen.has(verified.digest)) return;
    if (verified.envelope.handoff_id === this.#former?.handoff_id) return;
    this.#check(verified);
    this.#seen.add(verified.digest);
    this.#take(verified);
  }

  /** Shows a piece of what the recipient is writing. For the agent. */
  show({ attempt, number, text, by }: ShownDelta): void {
    if (this.#deltas === undefined || this.#isLeft || this.hasEnded) return;
    const { to } = this.envelope;
    if (typeof to === "string" && by !== to) return;
    const delta = { attempt, number, text, by };
    if (!isNextDelta(this.#lastDelta, delta)) return;
    this.#lastDelta = delta;
    this.#deltaCharacters += text.length;
    if (this.#deltaCharacters <= DELTA_CHARACTERS_SHOWN) this.#deltas.push(delta);
  }

  #check({ envelope }: VerifiedEnvelope): void {
    const { id: self, hub } = this.#context;
    const { to } = this.envelope;
    const isOwn = envelope.kind === "cancel" && envelope.from === self;
    const isForUs = envelope.to === self;
    const isNotice = envelope.kind === "notice" && envelope.from === hub.id && isForUs;
    const isRecipient = typeof to !== "string" || envelope.from === to;
    const isForThis = "re" in envelope && envelope.re === this.digest && isForUs && isRecipient;
    const isAbout = envelope.handoff_id === this.id;
    const isOfJob = envelope.correlation_id === this.envelope.correlation_id;
    if (isAbout && isOfJob && (isOwn || isNotice || isForThis)) return;
    throw new WaybillError(
      403,
      `A ${envelope.kind} from ${envelope.from} was delivered for ${this.id}, but it is about another handoff.`,
    );
  }

  #take(verified: VerifiedEnvelope): void {
    const { envelope, digest, text } = verified;
    const { from: by } = envelope;
    const ending = endingOf(verified, this.#context.artifacts);
    if (envelope.kind === "result" || isAcceptance(envelope)) {
      // A result names the same digest as an acceptance, and stands for it.
      const { attempt, body } = envelope;
      this.#accepted.resolve({ by, attempt, digest, text, session: body.session });
    } else if (envelope.kind === "progress") {
      this.#progress.push({ ...envelope.body, by, attempt: envelope.attempt });
    } else if (envelope.kind === "question") {
      const { attempt, body } = envelope;
      for (const question of body.questions) {
        this.#asked.set(question.id, { re: digest, by });
        const isPaused = body.state !== undefined;
        this.#questions.push({ ...question, by, attempt, isPaused });
      }
    }
    if (ending === undefined || this.#ending !== undefined) return;
    const counter = ending.type === "error" ? counterOf(ending.error) : undefined;
    const renew = this.#renew;
    this.#renew = undefined;
    if (counter === undefined || renew === undefined) return this.#end(ending, digest);
    const former = this.#envelope;
    this.#renewed = renew(this, counter)
      .then((isRenewed) => (isRenewed ? this.#leave(former, digest) : this.#end(ending, digest)))
      .catch((error: unknown) => this.fail(WaybillError.from(error)))
      .finally(() => (this.#renewed = undefined));
  }

  /** Acknowledges the superseded handoff: nobody else will. */
  #leave(former: HandoffEnvelope, ending: Digest): void {
    const { log, id: agent } = this.#context;
    const { handoff_id: handoffId } = former;
    this.#tracked("receipt", this.#confirm(former, ending)).catch((error: unknown) =>
      log({ event: "failure", agent, handoffId, error }),
    );
  }

  #end(ending: Ending, digest: Digest): void {
    if (this.#isLeft) return;
    this.#ending = digest;
    this.#usage = ending.type === "result" ? ending.result.usage : ending.usage;
    this.#disarm?.();
    const { log, id: agent } = this.#context;
    if (ending.type === "result") this.#result.resolve(ending.result);
    else {
      this.#accepted.reject(ending.error);
      this.#result.reject(ending.error);
    }
    const status = ending.type === "result" ? 200 : ending.error.status;
    log({ event: "ended", agent, handoffId: this.id, status });
    this.#endStreams();
    this.#acknowledgeByItself();
  }

  #endStreams(): void {
    for (const stream of [this.#progress, this.#questions, this.#deltas]) stream?.end();
  }

  #tracked<Value>(kind: Envelope["kind"], work: Promise<Value>): Promise<Value> {
    return this.#context.outgoing.track({ kind, handoffId: this.id }, work);
  }

  #signedAs(text: string): void {
    this.#text = text;
    this.#digest = digestOf(text);
  }

  get #deadline(): number {
    return Date.parse(this.#envelope.deadline);
  }

  get #until(): number {
    return this.#deadline + ACKNOWLEDGE_WITHIN_MS;
  }

  #signed(envelope: Envelope): Promise<string> {
    return this.#context.signer.sign(envelope);
  }

  #send(text: string, until: number, digest = digestOf(text)): Promise<VerifiedEnvelope> {
    return this.#context.link.submit(text, digest, until);
  }
}

function endNotReported({ handoff_id: id, deadline, to }: HandoffEnvelope): WaybillError {
  const recipient = typeof to === "string" ? to : `whoever has ${to.capability}`;
  return new WaybillError(
    504,
    `The deadline ${deadline} has passed, and the hub has not reported how the handoff ${id} to ${recipient} ended; the work may have been done. Attach to it by its id to learn the outcome once the hub answers.`,
  );
}

function notSignedYet(id: string): never {
  throw new WaybillError(403, `The handoff ${id} is not signed yet; wait for its custody.`);
}

function isAcceptance(envelope: VerifiedEnvelope["envelope"]): envelope is ReceiptEnvelope {
  return envelope.kind === "receipt" && envelope.body.status === 101;
}

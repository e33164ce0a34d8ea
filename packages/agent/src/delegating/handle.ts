import { WaybillError } from "@waybill/protocol";
import type {
  Digest,
  Envelope,
  HandoffEnvelope,
  Json,
  ReceiptEnvelope,
  SignedText,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type { InFlight, ReceivedAt, ShownDelta } from "@waybill/protocol/wire";
import type { GivenArtifact } from "../artifacts/given.ts";
import type { AgentContext } from "../context.ts";
import { checkReply } from "./check-reply.ts";
import { counterOf } from "./counter.ts";
import type { CounterOffer } from "./counter.ts";
import { deferred } from "./deferred.ts";
import { END_REPORTED_WITHIN_MS, EndDeadline } from "./end-deadline.ts";
import { endingOf } from "./ending.ts";
import type { Ending, HandoffResult } from "./ending.ts";
import { EventStreams } from "./event-streams.ts";
import type { DeltaEvent, ProgressEvent, QuestionEvent, Receipt } from "./events.ts";
import type { HandoffHandle } from "./handoff-handle.ts";
import type { LateNotices } from "./late-notices.ts";
import { sendAnswer, sendCancel } from "./replies.ts";
import type { GivenWork } from "./same-work.ts";
import { Upload } from "./upload.ts";
import type { HandoffUsage } from "./usage.ts";

/** How long to retry an acknowledgement during an outage: the hub takes it after the deadline, too. */
const ACKNOWLEDGE_WITHIN_MS = 60_000;
/** How long to wait for the events of a handoff that is looked up after its deadline. */
const FOUND_WITHIN_MS = 60_000;

export interface HandleOptions {
  /** The handles of the agent, by their handoffs: this one leaves them when nothing more is expected. */
  readonly handles: InFlight<string, Handle>;
  readonly lateNotices: LateNotices;
  /** The files to send, as they were given. */
  readonly artifacts?: readonly GivenArtifact[] | undefined;
  /** Acknowledged by the application, and not automatically. */
  readonly isManual: boolean;
  /** Continues with another handoff if the counter-offer is accepted; false if it is not. */
  readonly renew?: ((handle: Handle, counter: CounterOffer) => Promise<boolean>) | undefined;
}

/**
 * The handle of one handoff. `HandoffHandle` describes what the application sees of it; the methods for
 * the agent itself say so.
 */
export class Handle implements HandoffHandle {
  readonly #context: AgentContext;
  readonly #handles: InFlight<string, Handle>;
  readonly #lateNotices: LateNotices;
  readonly #isManual: boolean;
  /** The files to send, until they are uploaded. */
  #upload: Upload | undefined;
  #renew: HandleOptions["renew"];
  /** Settles when it is known which handoff this handle continues with. */
  #renewed: Promise<void> | undefined;
  /** The handoff that ended with an accepted counter-offer. */
  #former: HandoffEnvelope | undefined;
  readonly #custody = deferred<Receipt>();
  readonly #accepted = deferred<Receipt>();
  readonly #result = deferred<HandoffResult>();
  readonly #streams = new EventStreams();
  readonly #seen = new Set<Digest>();
  #envelope: HandoffEnvelope;
  #text: string | undefined;
  #digest: Digest | undefined;
  #ending: Digest | undefined;
  #usage: HandoffUsage | undefined;
  #acknowledged: Promise<void> | undefined;
  #isAwaited = false;
  readonly #endDeadline: EndDeadline;
  /** Nothing more is expected, although the end is unknown here. */
  #isLeft = false;

  constructor(
    context: AgentContext,
    envelope: HandoffEnvelope,
    { handles, lateNotices, isManual, renew, artifacts }: HandleOptions,
  ) {
    this.#context = context;
    this.#handles = handles;
    this.#lateNotices = lateNotices;
    this.#upload = artifacts && new Upload(context.artifacts, artifacts);
    this.#isManual = isManual;
    this.#renew = renew;
    this.#envelope = envelope;
    this.#endDeadline = new EndDeadline(context.clock, (error) => this.#giveUp(error));
    this.#endDeadline.arm(envelope);
  }

  get id(): string {
    return this.#envelope.handoff_id;
  }

  get envelope(): HandoffEnvelope {
    return this.#envelope;
  }

  get text(): string {
    return this.#text ?? notSignedYet(this.id);
  }

  get digest(): Digest {
    return this.#digest ?? notSignedYet(this.id);
  }

  get custody(): Promise<Receipt> {
    return this.#custody.promise;
  }

  get accepted(): Promise<Receipt> {
    return this.#accepted.promise;
  }

  /** The work as it was given: before the upload, files are known only by path. For the agent. */
  get work(): GivenWork {
    const { body } = this.#envelope;
    return { ...body, artifacts: this.#upload?.given ?? body.artifacts };
  }

  get result(): Promise<HandoffResult> {
    this.#isAwaited = true;
    this.#acknowledgeByItself();
    return this.#result.promise;
  }

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
    return this.#streams.progress;
  }

  get deltas(): AsyncIterable<DeltaEvent> {
    return this.#streams.deltas;
  }

  get questions(): AsyncIterable<QuestionEvent> {
    return this.#streams.questions;
  }

  cancel(reason?: string): Promise<boolean> {
    const cancelled = this.#tracked("cancel", this.#cancel(reason));
    return Promise.race([cancelled, this.#endDeadline.overdue]);
  }

  async #cancel(reason: string | undefined): Promise<boolean> {
    if (this.#upload?.cancel(reason) === true) return true;
    await this.custody;
    await this.#renewed;
    const until = this.#deadline + END_REPORTED_WITHIN_MS;
    let text: string;
    try {
      text = await sendCancel(this.#context, this.envelope, { reason, until });
    } catch (error) {
      if (WaybillError.is(error, 410)) return false;
      throw error;
    }
    await this.receive(text);
    return true;
  }

  answer(questionId: string, answer: unknown): Promise<void> {
    const answered = this.#tracked("answer", this.#answer(questionId, answer));
    return Promise.race([answered, this.#endDeadline.overdue]);
  }

  async #answer(questionId: string, answer: unknown): Promise<void> {
    const asked = this.#streams.asked(questionId);
    if (asked === undefined) {
      throw new WaybillError(403, `There is no question ${questionId} about ${this.id}.`);
    }
    const until = this.#deadline + END_REPORTED_WITHIN_MS;
    const given = { id: questionId, answer: answer as Json, asked, until };
    await sendAnswer(this.#context, this.envelope, given);
  }

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

  #confirm(handoff: HandoffEnvelope, ending: Digest): Promise<void> {
    return this.#context.acknowledgements.send({ handoff, ending, until: this.#until });
  }

  #forget(): void {
    this.#handles.delete(this.id);
    if (this.#former !== undefined) this.#handles.delete(this.#former.handoff_id);
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
    if (this.#upload === undefined) return;
    this.#envelope = await this.#upload.run(this.#envelope, signal);
    this.#upload = undefined;
  }

  /** Submits it to the hub. For the agent. */
  async submit(): Promise<void> {
    const { id: agent, log, signer, link } = this.#context;
    const signed = await signer.sign(this.envelope);
    this.#signedAs(signed);
    const { envelope, digest, text } = await link.submit(signed, this.#until);
    log({ event: "custody", agent, handoffId: this.id });
    this.#custody.resolve({ by: envelope.from, attempt: undefined, digest, text });
  }

  /** Nothing more will be delivered for it here. For the agent. */
  fail(error: WaybillError): void {
    this.#isLeft = true;
    this.#endDeadline.disarm();
    this.#custody.reject(error);
    this.#accepted.reject(error);
    this.#result.reject(error);
    this.#streams.end();
    this.#forget();
  }

  /** The hub has not reported the end in time. */
  #giveUp(error: WaybillError): void {
    this.fail(error);
    const isInCustody = this.#digest !== undefined;
    if (isInCustody && this.#isAwaited && !this.#isManual) this.#lateNotices.expect(this);
  }

  /** For a handoff that was found again: it has been in custody all along. */
  found(handoff: HandoffEnvelope, signed: SignedText): void {
    const { clock, hub } = this.#context;
    this.#envelope = handoff;
    this.#signedAs(signed);
    // Its events follow now; the wait for them begins here, since the deadline may have passed.
    const isPast = this.#deadline <= clock.now();
    this.#endDeadline.arm(handoff, isPast ? FOUND_WITHIN_MS : END_REPORTED_WITHIN_MS);
    this.#custody.resolve({
      by: hub.id,
      attempt: undefined,
      digest: this.digest,
      text: this.text,
    });
  }

  /** All events that the hub had when it was found have been replayed. For the agent. */
  isFound(): void {
    if (!this.hasEnded && !this.#isLeft) this.#endDeadline.arm(this.#envelope);
  }

  /** Processes a delivery, once, however often it comes. For the agent. */
  async receive(text: string, receivedAt?: ReceivedAt): Promise<void> {
    const { id: self, hub, link, peers } = this.#context;
    const verified = await link.retry(() => peers.verify(text, { receivedAt }), this.#until);
    if (this.#isLeft || this.#seen.has(verified.digest)) return;
    if (verified.envelope.handoff_id === this.#former?.handoff_id) return;
    checkReply(verified.envelope, this, { self, hub: hub.id });
    this.#seen.add(verified.digest);
    this.#apply(verified);
  }

  /** Shows a piece of what the recipient is writing. For the agent. */
  show(delta: ShownDelta): void {
    this.#streams.show(delta, this.envelope);
  }

  #apply(verified: VerifiedEnvelope): void {
    const { envelope, digest, text } = verified;
    const { from: by } = envelope;
    const ending = endingOf(verified, this.#context.artifacts);
    if (envelope.kind === "result" || isAcceptance(envelope)) {
      // A result names the same digest as an acceptance, and replaces it.
      const { attempt, body } = envelope;
      this.#accepted.resolve({ by, attempt, digest, text, session: body.session });
    }
    this.#streams.receive(verified);
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

  /** Acknowledges the superseded handoff, because the application does not know of it. */
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
    this.#endDeadline.disarm();
    const { log, id: agent } = this.#context;
    if (ending.type === "result") this.#result.resolve(ending.result);
    else {
      this.#accepted.reject(ending.error);
      this.#result.reject(ending.error);
    }
    const status = ending.type === "result" ? 200 : ending.error.status;
    log({ event: "ended", agent, handoffId: this.id, status });
    this.#streams.end();
    this.#acknowledgeByItself();
  }

  #tracked<Value>(kind: Envelope["kind"], work: Promise<Value>): Promise<Value> {
    return this.#context.outgoing.track({ kind, handoffId: this.id }, work);
  }

  #signedAs({ text, digest }: SignedText): void {
    this.#text = text;
    this.#digest = digest;
  }

  get #deadline(): number {
    return Date.parse(this.#envelope.deadline);
  }

  get #until(): number {
    return this.#deadline + ACKNOWLEDGE_WITHIN_MS;
  }
}

function notSignedYet(id: string): never {
  throw new WaybillError(403, `The handoff ${id} is not signed yet; wait for its custody.`);
}

function isAcceptance(envelope: VerifiedEnvelope["envelope"]): envelope is ReceiptEnvelope {
  return envelope.kind === "receipt" && envelope.body.status === 101;
}

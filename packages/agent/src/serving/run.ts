import { askerOf, readUsageRow, WaybillError } from "@waybill/protocol";
import type {
  HandoffEnvelope,
  Json,
  ProgressBody,
  ReceiptBody,
  VerifiedEnvelope,
} from "@waybill/protocol";
import type { BoundedCache, Delivery, ReceivedAt } from "@waybill/protocol/wire";
import type { AgentContext } from "../context.ts";
import { deferred } from "../delegating/deferred.ts";
import type { Delegating } from "../delegating/delegating.ts";
import { delegatorOver } from "../delegating/delegator.ts";
import { traceAttempt } from "../tracing/attempt-trace.ts";
import type { AttemptTrace } from "../tracing/attempt-trace.ts";
import { recordTokens } from "../tracing/metrics.ts";
import { Answers } from "./answers.ts";
import { Asking } from "./asking.ts";
import { readInput, rejectionOf, servedFor } from "./capabilities.ts";
import type { Served } from "./capabilities.ts";
import { Deltas } from "./deltas.ts";
import { Heartbeat } from "./heartbeat.ts";
import { failureOf, pauseOf, resultOf, returnedResult } from "./outcome.ts";
import type { GivenResult } from "./outcome.ts";
import { Replies } from "./replies.ts";
import { UsageTally } from "./usage-tally.ts";
import { sessionOf } from "./session.ts";
import type { SessionOfWork } from "./session.ts";
import type { Resume, Work } from "./work.ts";

/** Far less than the grace that a hub allows between "taken" and the signed acceptance. */
const ACCEPT_WITHIN_MS = 20;

export type Offer = Extract<Delivery, { type: "offer" }>;

export interface RunOptions {
  readonly context: AgentContext;
  readonly served: readonly Served[];
  readonly delegating: Delegating;
  /** Handoffs that were countered here: the same work gets no second counter-offer. */
  readonly countered: BoundedCache<string, true>;
}

/** One attempt in this process, from its offer to its last envelope. */
export class Run {
  readonly handoffId: string;
  readonly attempt: number;
  readonly #offer: Offer;
  readonly #context: AgentContext;
  readonly #options: RunOptions;
  readonly #controller = new AbortController();
  readonly #answers = new Answers();
  readonly #tally = new UsageTally();
  /** Answers that arrived before the offer itself was verified. */
  readonly #early: [text: string, receivedAt: ReceivedAt][] = [];
  readonly #deadline: number;
  readonly #heartbeat: Heartbeat;
  readonly #deltas: Deltas;
  /** The handoff and the replies to it, once the handoff is verified. */
  #verified: { readonly handoff: HandoffEnvelope; readonly replies: Replies } | undefined;
  #trace: AttemptTrace | undefined;
  #session: SessionOfWork | undefined;
  #disarmDeadline: (() => void) | undefined;
  readonly #closed = deferred<never>();
  readonly #worked = deferred<void>();
  /** Sends the acceptance now, if it was not sent. */
  #acceptNow: () => void = () => undefined;
  #disarmAcceptance: (() => void) | undefined;
  /** Nothing more is sent: the attempt belongs to another agent now, or to none. */
  #isClosed = false;

  constructor(offer: Offer, options: RunOptions) {
    const { clock, link } = options.context;
    const { handoff_id: handoffId, attempt, lease_ms: leaseMs } = offer;
    this.#offer = offer;
    this.#options = options;
    this.#context = options.context;
    this.handoffId = handoffId;
    this.attempt = attempt;
    this.#deadline = clock.now() + offer.remaining_ms;
    const lost = () =>
      this.abort(
        new WaybillError(
          501,
          "The work was aborted: the hub was unreachable for longer than the lease, so another agent may have the work now.",
        ),
      );
    const isSuspended = () => this.#answers.areWaitedFor;
    const about = { handoffId, attempt, leaseMs };
    this.#deltas = new Deltas({ clock, link, handoffId, attempt });
    this.#heartbeat = new Heartbeat({ clock, link, ...about, isSuspended, lost });
  }

  /** The handler has ended; its outcome may still be on its way to the hub. */
  get worked(): Promise<void> {
    return this.#worked.promise;
  }

  /** Runs the attempt. Never rejects. */
  async work(): Promise<void> {
    const { id: agent, log } = this.#context;
    try {
      await this.#work();
    } catch (error) {
      this.#trace?.settle(WaybillError.from(error).status);
      if (!this.#isClosed) {
        log({ event: "failure", agent, handoffId: this.handoffId, attempt: this.attempt, error });
      }
    } finally {
      this.#end();
      this.#worked.resolve();
      this.#trace?.end();
    }
  }

  #end(): void {
    this.#isClosed = true;
    this.#heartbeat.stop();
    this.#deltas.stop();
    this.#disarmDeadline?.();
    this.#disarmAcceptance?.();
  }

  async #work(): Promise<void> {
    const context = this.#context;
    const {
      envelope,
      digest: re,
      kid,
    } = await this.#verify(this.#offer.envelope, this.#offer.received_at);
    const { to } = envelope;
    if (envelope.kind !== "handoff" || envelope.handoff_id !== this.handoffId) {
      throw new WaybillError(400, `The offer of ${this.handoffId} contains another handoff.`);
    }
    if (typeof to === "string" && to !== context.id) {
      throw new WaybillError(403, `The handoff ${this.handoffId} is for ${to}.`);
    }
    const about = { attempt: this.attempt, re, deadline: this.#deadline };
    const replies = new Replies(context, envelope, about);
    this.#verified = { handoff: envelope, replies };
    this.#session = sessionOf(envelope, this.#offer.session);
    this.#trace = traceAttempt(envelope, context.id, this.attempt);
    if (this.#offer.is_accepted) return this.#interrupted(replies);
    const { body } = envelope;
    const asker = askerOf(envelope, kid);
    const served = servedFor(this.#options.served, body, asker);
    if (served === undefined) {
      const reason = `${context.id} does not offer ${body.capability}.`;
      return this.#reject(replies, { status: 404, reason });
    }
    const { countered } = this.#options;
    const hasCountered =
      envelope.replay_of !== undefined && countered.get(envelope.replay_of) === true;
    const rejection = rejectionOf(served, { body, asker, hasCountered });
    if (rejection !== undefined) {
      if (rejection.counter !== undefined) countered.set(this.handoffId, true);
      return this.#reject(replies, rejection);
    }
    const read = await readInput(served, body);
    if (read.rejection !== undefined) return this.#reject(replies, read.rejection);
    for (const answer of this.#offer.answers) await this.answered(answer, this.#offer.received_at);
    for (const [answer, receivedAt] of this.#early) await this.answered(answer, receivedAt);
    // It may have been stopped while the hub was asked for keys.
    if (this.#isClosed) return;
    this.#heartbeat.start();
    this.#disarmDeadline = context.clock.setTimer(this.#deadline, () =>
      this.abort(new WaybillError(504, "The deadline of the handoff has passed.")),
    );
    this.#acceptWithin(replies);
    await this.#conclude(served, replies, await this.#invoke(served, read.input, replies));
  }

  /** A connection that is cut while the hub is asked for keys is no reason to give up the attempt. */
  #verify(text: string, receivedAt: ReceivedAt): Promise<VerifiedEnvelope> {
    const { link, peers } = this.#context;
    return link.retry(() => peers.verify(text, { receivedAt }), this.#deadline);
  }

  /** A result within the grace replaces the acceptance, which is then not sent. */
  #acceptWithin(replies: Replies): void {
    const { clock } = this.#context;
    this.#acceptNow = () => {
      this.#disarmAcceptance?.();
      this.#acceptNow = () => undefined;
      if (!this.#isClosed) this.#accept(replies);
    };
    this.#disarmAcceptance = clock.setTimer(clock.now() + ACCEPT_WITHIN_MS, () =>
      this.#acceptNow(),
    );
  }

  /** Sends the acceptance. A result that arrives before it replaces it. */
  #accept(replies: Replies): void {
    const { id: agent, log } = this.#context;
    const about = { agent, handoffId: this.handoffId, attempt: this.attempt };
    const session = this.#session?.offered;
    replies.receipt({ status: 101, session }).then(
      () => log({ event: "accepted", ...about }),
      (error: unknown) => {
        // After the result, the acceptance is late and adds nothing.
        if (this.#isClosed || !WaybillError.is(error, 410)) return;
        this.close(error);
      },
    );
  }

  async #invoke(served: Served, input: unknown, replies: Replies): Promise<() => unknown> {
    try {
      const work = await this.#view(input, replies);
      // Cancelled work that keeps running is not waited for.
      const invoke = () => Promise.race([served.handler(work), this.#closed.promise]);
      const used = () => this.#tally.own;
      const value = await (this.#trace?.invoke(invoke, used) ?? invoke());
      return () => value;
    } catch (error) {
      return () => {
        throw error;
      };
    } finally {
      recordTokens(this.#tally.own);
    }
  }

  async #conclude(served: Served, replies: Replies, returned: () => unknown): Promise<void> {
    // The last delta is sent before the result.
    this.#deltas.finish();
    this.#worked.resolve();
    if (this.#isClosed) return;
    const { effects, output_schema: schema } = served.capability;
    let body: GivenResult;
    try {
      const value = returned();
      const pause = pauseOf(value);
      if (pause !== undefined) {
        const { questions, state } = pause;
        this.#acceptNow();
        const { usage } = this.#tally;
        await this.#said(replies.question({ questions: [...questions], state, usage }));
        return;
      }
      const session = this.#session?.state;
      body = { ...resultOf(value, schema), ...(session && { session }) };
    } catch (error) {
      if (WaybillError.is(error) && (error.status === 300 || error.status === 301)) {
        return this.release(error.message, error.status, error.retryAfterMs);
      }
      // Whatever cancelled work throws, it throws because of the cancellation: it is no verdict on the
      // work.
      const { aborted, reason } = this.#controller.signal as { aborted: boolean; reason: unknown };
      body = failureOf(aborted ? reason : error, effects);
    }
    await this.#result(replies, { ...body, usage: this.#tally.usage });
  }

  async #result(replies: Replies, body: GivenResult): Promise<void> {
    const { id: agent, log } = this.#context;
    const { handoffId, attempt } = this;
    this.#disarmAcceptance?.();
    await replies.result(body, this.#controller.signal);
    this.#trace?.settle(body.status);
    log({ event: "finished", agent, handoffId, attempt, status: body.status });
  }

  /** A process that does not know an attempt which it has accepted was restarted meanwhile. */
  #interrupted(replies: Replies): Promise<void> {
    return this.#result(replies, {
      status: 501,
      error: {
        message: `${this.#context.id} was restarted in the middle of the work.`,
        retryable: true,
      },
      effects: "possible",
    });
  }

  async #reject(replies: Replies, body: ReceiptBody): Promise<void> {
    const { id: agent, log } = this.#context;
    const { handoffId, attempt } = this;
    log({ event: "refused", agent, handoffId, attempt, status: body.status });
    this.#trace?.settle(body.status);
    await replies.receipt(body);
  }

  /** Returns the attempt to the hub, without a verdict. */
  async release(reason: string, status: 300 | 301 = 300, retryAfterMs?: number): Promise<void> {
    if (this.#isClosed) return;
    this.#end();
    this.#trace?.settle(status);
    this.abort(new WaybillError(status, reason));
    await this.#verified?.replies.receipt({ status, reason, retry_after_ms: retryAfterMs });
  }

  /** Stops the work; nothing more of it is sent. */
  close(reason: WaybillError): void {
    this.#end();
    this.#trace?.settle(reason.status);
    this.#closed.reject(reason);
    this.abort(reason);
  }

  abort(reason: WaybillError): void {
    this.#answers.end(reason);
    this.#controller.abort(reason);
  }

  async answered(text: string, receivedAt: ReceivedAt): Promise<void> {
    if (this.#verified === undefined) {
      this.#early.push([text, receivedAt]);
      return;
    }
    const { from, handoff_id: id } = this.#verified.handoff;
    this.#answers.receive(await this.#verify(text, receivedAt), from, id);
  }

  async #view(input: unknown, replies: Replies): Promise<Work> {
    const envelope = this.#verified!.handoff;
    const artifacts = this.#context.artifacts.received(envelope.body.artifacts ?? []);
    const { artifacts: named, ...rest } = envelope.body;
    const asking = new Asking(this.#context.id, this.#answers, (question) => {
      this.#acceptNow();
      return this.#said(replies.question(question));
    });
    return {
      agent: this.#context.id,
      input: input as Json,
      body: named === undefined ? rest : { ...rest, artifacts },
      artifacts,
      envelope,
      handoffId: this.handoffId,
      attempt: this.attempt,
      deadline: new Date(this.#deadline),
      signal: this.#controller.signal,
      session: this.#session,
      resume: await this.#resume(),
      progress: async (content) => {
        this.#acceptNow();
        if (!this.#isClosed) await this.#said(replies.progress(content as ProgressBody));
      },
      delta: (text) => {
        if (!this.#isClosed) this.#deltas.add(text);
      },
      ask: async (question) => (await asking.ask(question)) as never,
      pause: (questions, state) => asking.pause(questions, state),
      result: returnedResult,
      addUsage: (row) => this.#tally.add(readUsageRow(row)),
      ...delegatorOver(this.#options.delegating, {
        envelope,
        signal: this.#controller.signal,
        trace: this.#trace,
        tally: this.#tally,
      }),
    };
  }

  async #resume(): Promise<Resume | undefined> {
    const { resume, received_at: receivedAt } = this.#offer;
    if (resume === undefined) return undefined;
    const { envelope } = await this.#verify(resume, receivedAt);
    // The state is this agent's own; from anybody else it would be an attack.
    const isOwn = envelope.kind === "question" && envelope.from === this.#context.id;
    if (!isOwn || envelope.handoff_id !== this.handoffId || envelope.body.state === undefined) {
      throw new WaybillError(
        403,
        `The state to resume from does not belong to ${this.#context.id}.`,
      );
    }
    const { state, questions, usage = {} } = envelope.body;
    this.#tally.goOnFrom(usage);
    return { state, questions, answers: this.#answers.known };
  }

  /** If the hub says that the attempt is closed, the work ends. */
  async #said(reply: Promise<void>): Promise<void> {
    try {
      await reply;
    } catch (error) {
      if (WaybillError.is(error, 410)) this.close(error);
      throw error;
    }
  }
}

import { createReply, parseEnvelope, readCompact, digestOf, digestOfJws } from "@waybill/protocol";
import type { Digest, HandoffEnvelope, QuestionEnvelope, StatusCode } from "@waybill/protocol";
import type { Attachment, Delivery } from "@waybill/hub";
import { HUB_ID } from "../hub/hub-site.ts";
import { behaviourOf } from "./behaviour.ts";
import type { Behaviour, Step } from "./behaviour.ts";
import type { Running } from "./running.ts";

export type Offer = Extract<Delivery, { type: "offer" }>;

export interface RecipientContext {
  attachment(): Attachment | undefined;
  /** Hands off a part of the work; settles when it has ended, or at once if nobody waits. */
  child(parent: HandoffEnvelope): Promise<void>;
}

/** One attempt that a recipient works on. */
interface Attempt {
  readonly offer: Offer;
  readonly handoff: HandoffEnvelope;
  readonly digest: Digest;
  readonly behaviour: Behaviour;
  isStopped: boolean;
  isOver: boolean;
  /** Called when an answer has arrived, or the work must stop. */
  wake: () => void;
  readonly answers: Set<string>;
}

/** Longer than the deadlines that agents set; the hub's own handoffs have a day. */
const BEATS_AT_MOST_MS = 16 * 60 * 1000;

const REJECTIONS: readonly StatusCode[] = [403, 404, 406, 422];

/** The side of an agent that works on its offers. */
export class Recipient {
  readonly #agent: Running;
  readonly #context: RecipientContext;
  readonly #attempts = new Map<string, Attempt>();

  constructor(agent: Running, context: RecipientContext) {
    this.#agent = agent;
    this.#context = context;
  }

  async offer(offer: Offer): Promise<void> {
    const { handoff_id: handoffId, attempt: number, id } = offer;
    const { world, random } = this.#agent;
    world.offers.push({ handoffId, attempt: number, agent: this.#agent.id });
    this.#context.attachment()?.seen(id);
    const known = this.#attempts.get(handoffId);
    if (known !== undefined && known.offer.attempt >= number) return this.#again(known, offer);
    if (known !== undefined) this.#stop(known);
    const attempt: Attempt = {
      offer,
      handoff: parseEnvelope(readCompact(offer.envelope).payload) as HandoffEnvelope,
      digest: digestOfJws(offer.envelope),
      behaviour: behaviourOf(random, number),
      isStopped: false,
      isOver: false,
      wake: () => undefined,
      answers: new Set(offer.answers.map(answeredBy)),
    };
    this.#checkResume(attempt);
    this.#attempts.set(handoffId, attempt);
    await this.#run(attempt);
    attempt.isOver = true;
  }

  /** A repeated offer is the same offer; it brings answers that may have been lost. */
  #again(known: Attempt, { handoff_id: handoffId, attempt: number, answers }: Offer): void {
    if (known.offer.attempt !== number || known.isOver) return;
    this.#sign(handoffId, number);
    for (const answer of answers) this.#answer(known, answer);
  }

  stop({ handoff_id: handoffId, attempt: number }: Extract<Delivery, { type: "stop" }>): void {
    const attempt = this.#attempts.get(handoffId);
    if (attempt?.offer.attempt === number && !attempt.behaviour.ignoresStop) this.#stop(attempt);
  }

  answered(handoffId: string, text: string): void {
    const attempt = this.#attempts.get(handoffId);
    if (attempt !== undefined) this.#answer(attempt, text);
  }

  #answer(attempt: Attempt, text: string): void {
    attempt.answers.add(answeredBy(text));
    attempt.wake();
  }

  #stop(attempt: Attempt): void {
    attempt.isStopped = true;
    attempt.wake();
  }

  #checkResume({ offer, answers }: Attempt): void {
    if (offer.resume === undefined) return;
    const asked = parseEnvelope(readCompact(offer.resume).payload) as QuestionEnvelope;
    const missing = asked.body.questions.filter(({ id }) => !answers.has(id));
    if (missing.length === 0 && asked.body.state === `state of ${offer.handoff_id}`) return;
    const message = `Attempt ${offer.attempt} goes on from a pause without ${missing.length} of its answers.`;
    this.#agent.world.breach("resumed_without_answers", offer.handoff_id, message);
  }

  async #run(attempt: Attempt): Promise<void> {
    const { behaviour, offer, handoff } = attempt;
    const { random, process, id } = this.#agent;
    const { handoff_id: handoffId, attempt: number } = offer;
    if (offer.is_accepted && random.chance(0.3)) return this.#result(attempt, 501);
    if (behaviour.opening === "ignore") return;
    if (behaviour.opening === "reject") return this.#receipt(attempt, random.pick(REJECTIONS));
    if (behaviour.opening === "release") return this.#receipt(attempt, random.pick([300, 301]));
    if (behaviour.says.taken) this.#context.attachment()?.taken(handoffId, number);
    this.#sign(handoffId, number);
    if (behaviour.says.accepted) {
      const accept = () => this.#receipt(attempt, 101);
      process.after(behaviour.acceptsAfterMs, () => this.#inParallel(accept()));
    }
    if (behaviour.beats) this.#beat(attempt);
    for (const step of behaviour.steps) {
      if (attempt.isStopped) return;
      await this.#step(attempt, step);
    }
    const needsMs = random.spread(1, 6_000);
    await process.sleep(needsMs);
    if (attempt.isStopped) return;
    this.#agent.world.trace.note(`${id} ends ${handoffId}/${number}: ${behaviour.finish}`);
    await this.#finish(attempt, handoff);
  }

  #beat(attempt: Attempt, since: number = this.#agent.world.now): void {
    const { offer, behaviour } = attempt;
    const { handoff_id: handoffId, attempt: number, lease_ms: leaseMs } = offer;
    this.#agent.process.after(leaseMs / 3, () => {
      const isHanging = behaviour.finish === "only_beat";
      if (attempt.isStopped || (attempt.isOver && !isHanging)) return;
      const { now } = this.#agent.world;
      if (now > Date.parse(attempt.handoff.deadline) || now > since + BEATS_AT_MOST_MS) return;
      this.#context.attachment()?.heartbeat(handoffId, number);
      this.#sign(handoffId, number);
      this.#beat(attempt, since);
    });
  }

  async #step(attempt: Attempt, step: Step): Promise<void> {
    const { random, process, target } = this.#agent;
    const { handoff_id: handoffId } = attempt.offer;
    switch (step) {
      case "rest":
        return process.sleep(random.spread(1, 10_000));
      case "progress":
        return this.#say(attempt, "progress");
      case "ask":
        // Nobody answers questions for the hub.
        if (attempt.handoff.from !== HUB_ID) await this.#ask(attempt);
        return;
      case "child":
        return this.#context.child(attempt.handoff);
      case "impostor":
        return this.#impersonate(attempt);
      case "twins":
        return this.#sendTwins(attempt);
      case "effect": {
        const key = attempt.handoff.handoff_id;
        await process.sleep(random.between(0, 20));
        if (process.isAlive) target.apply(handoffId, key);
      }
    }
  }

  async #finish(attempt: Attempt, handoff: HandoffEnvelope): Promise<void> {
    const { random } = this.#agent;
    const { finish } = attempt.behaviour;
    switch (finish) {
      case "complete":
        return this.#result(attempt, 200);
      case "fail":
        return this.#result(attempt, 500, false);
      case "fail_for_now":
        return this.#result(attempt, random.pick([500, 520]), true);
      case "interrupted":
        return this.#result(attempt, 501);
      case "release":
        return this.#receipt(attempt, random.pick([300, 301]));
      case "pause":
        return this.#say(attempt, "question", `state of ${handoff.handoff_id}`);
      case "fall_silent":
      case "only_beat":
    }
  }

  async #ask(attempt: Attempt): Promise<void> {
    const { process, world } = this.#agent;
    const before = attempt.answers.size;
    await this.#say(attempt, "question");
    const deadline = Date.parse(attempt.handoff.deadline);
    while (!attempt.isStopped && attempt.answers.size === before && world.now < deadline) {
      await new Promise<void>((resolve) => {
        attempt.wake = resolve;
        process.after(10_000, resolve);
      });
    }
  }

  #say(attempt: Attempt, kind: "progress" | "question", state?: string): Promise<void> {
    const { id: from, source, random } = this.#agent;
    const { attempt: number } = attempt.offer;
    const re = attempt.digest;
    const base = { from, attempt: number, re };
    if (kind === "progress") {
      const body = { message: "at it", fraction: random.fraction() };
      return this.#post(attempt, createReply(attempt.handoff, { ...base, kind, body }, source));
    }
    const questions = Array.from({ length: random.between(1, 3) }, () => ({ id: source.newId() }));
    const body = { questions, ...(state === undefined ? {} : { state }) };
    return this.#post(attempt, createReply(attempt.handoff, { ...base, kind, body }, source));
  }

  #receipt(attempt: Attempt, status: StatusCode): Promise<void> {
    const { id: from, source, random } = this.#agent;
    const { attempt: number } = attempt.offer;
    const wait = status === 300 ? { retry_after_ms: random.spread(1, 5_000) } : {};
    const body = { status, reason: "as it behaves", ...wait };
    const input = { kind: "receipt", from, attempt: number, re: attempt.digest, body } as const;
    return this.#post(attempt, createReply(attempt.handoff, input, source));
  }

  #result(attempt: Attempt, status: StatusCode, retryable?: boolean): Promise<void> {
    const { id: from, source } = this.#agent;
    const { attempt: number } = attempt.offer;
    const error = status === 200 ? {} : { error: { message: "it did not work", retryable } };
    const body = { status, output: `by ${from} in attempt ${number}`, ...error };
    const input = { kind: "result", from, attempt: number, re: attempt.digest, body } as const;
    return this.#post(attempt, createReply(attempt.handoff, input, source));
  }

  /** Claims to speak for an attempt that it does not hold, and for the digest of another handoff. */
  async #impersonate(attempt: Attempt): Promise<void> {
    const { id: from, source, random, world } = this.#agent;
    const isOtherDigest = random.chance(0.5);
    const number = attempt.offer.attempt + (isOtherDigest ? 0 : 100);
    const re = isOtherDigest ? digestOf("another") : attempt.digest;
    const body = { status: 200 as const, output: "forged" };
    const input = { kind: "result", from, attempt: number, re, body } as const;
    const refusal = await this.#agent.send(createReply(attempt.handoff, input, source));
    if (refusal !== undefined) return;
    const message = `A result of ${from} for attempt ${number} and ${re} was taken.`;
    world.breach("impostor_taken", attempt.offer.handoff_id, message);
  }

  /** Sends two envelopes with the same id at once: the hub must not accept the one that comes second. */
  async #sendTwins({ offer, handoff, digest: re }: Attempt): Promise<void> {
    const { id: from, source, world } = this.#agent;
    const { handoff_id: handoffId, attempt: number } = offer;
    this.#sign(handoffId, number);
    const body = { message: "at it" };
    const input = { kind: "progress", from, attempt: number, re, body } as const;
    const first = createReply(handoff, input, source);
    const second = { ...first, body: { message: "at something else" } };
    const until = Date.parse(handoff.deadline);
    const refusals = await Promise.all(
      [first, second].map((envelope) => this.#agent.send(envelope, until)),
    );
    if (refusals.some((refusal) => refusal !== undefined)) return;
    const message = `${from} sent two envelopes under the id ${first.id}, and both were taken.`;
    world.breach("id_taken_twice", handoffId, message);
  }

  async #post(attempt: Attempt, envelope: Parameters<Running["send"]>[0]): Promise<void> {
    const { handoff_id: handoffId, attempt: number } = attempt.offer;
    const { world, id } = this.#agent;
    this.#sign(handoffId, number);
    if (attempt.behaviour.beats && this.#agent.random.chance(0.3)) {
      // While the hub commits one of them, another hub may commit with the other.
      for (let beat = 0; beat < 2; beat++) {
        this.#context.attachment()?.heartbeat(handoffId, number);
      }
    }
    const refusal = await this.#agent.send(envelope, Date.parse(attempt.handoff.deadline));
    if (refusal === undefined) return;
    world.trace.note(
      `${id} hears ${refusal.status} for a ${envelope.kind} of ${handoffId}/${number}`,
    );
    if (!attempt.behaviour.ignoresStop) this.#stop(attempt);
  }

  #sign(handoffId: string, number: number): void {
    this.#agent.world.signsOfLife.set(`${handoffId}/${number}`, this.#agent.world.now);
  }

  #inParallel(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#agent.world.fault(error));
  }
}

function answeredBy(text: string): string {
  const envelope = parseEnvelope(readCompact(text).payload);
  return envelope.kind === "answer" ? envelope.body.question_id : "";
}

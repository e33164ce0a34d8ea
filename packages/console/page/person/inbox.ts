import { signal } from "@preact/signals";
import { createReply, newId, WaybillError } from "@waybill/protocol";
import type {
  AnswerEnvelope,
  AskedQuestion,
  Digest,
  Envelope,
  HandoffEnvelope,
  Json,
  QuestionEnvelope,
  ResultBody,
} from "@waybill/protocol";
import type { Delivery, WireHandoffView, WireInboxNews } from "@waybill/protocol/wire";
import { payloadOf } from "../hub/handoffs.ts";
import { get, post } from "../hub/hub.ts";
import { proofBy } from "../trust/browser-key.ts";
import { acknowledge, isEnding } from "../trust/ending.ts";
import type { Ending } from "../trust/ending.ts";
import { receive } from "../trust/mailbox.ts";
import type { MailboxState } from "../trust/mailbox.ts";
import { Post } from "../trust/post.ts";
import type { Person } from "./person.ts";

type Offer = Extract<Delivery, { readonly type: "offer" }>;

/** Work that the person has accepted: this page keeps its lease while it is open. */
export interface HeldWork {
  readonly handoff: HandoffEnvelope;
  readonly digest: Digest;
  readonly attempt: number;
  readonly leaseMs: number;
  readonly asked: readonly AskedQuestion[];
  readonly answers: readonly AnswerEnvelope["body"][];
}

/** A question about work that the person has handed off. */
export interface OpenQuestion {
  readonly question: QuestionEnvelope;
  readonly digest: Digest;
  readonly asked: AskedQuestion;
}

/** What to do with the work that is offered next. */
interface Wanted {
  /** The handoff; undefined for whichever the hub offers first. */
  readonly id: string | undefined;
  readonly act: (offer: Offer, handoff: HandoffEnvelope, digest: Digest) => Promise<void>;
  readonly settle: (error?: WaybillError) => void;
  passed: number;
}

/** Work that comes before the chosen one is given back this often. */
const PASSED_AT_MOST = 20;
/** After this time it is offered again. */
const PASSED_MS = 5_000;
/** An offer arrives at once if there is work and room. */
const OFFER_MS = 10_000;
const AGAIN_MS = 500;
const BEATS_PER_LEASE = 3;

/**
 * What the hub delivers to a person. Nothing is offered to this page before the person asks for it:
 * an acceptance is the person's own decision. The rest is what any agent does that polls its inbox.
 */
export class Inbox {
  readonly state = signal<MailboxState>({ type: "opening" });
  readonly held = signal<readonly HeldWork[]>([]);
  readonly questions = signal<readonly OpenQuestion[]>([]);
  readonly endings = signal<readonly Ending[]>([]);
  /** The last thing that happened by itself, for whoever does not see it appear. */
  readonly news = signal("");
  readonly #post: Post;
  readonly #instance = newId();
  #wanted: Wanted | undefined;
  #beats: ReturnType<typeof setInterval> | undefined;

  constructor(who: Person) {
    this.#post = new Post(who);
  }

  get who(): Person {
    return this.#post.who;
  }

  /** Receives until the signal aborts. */
  async follow(stop: AbortSignal): Promise<void> {
    const mailbox = {
      who: this.who,
      instance: this.#instance,
      credit: () => this.#credit,
      take: async (deliveries: readonly Delivery[]) => {
        for (const each of deliveries) await this.#take(each);
      },
      changed: (state: MailboxState) => (this.state.value = state),
    };
    await receive(mailbox, stop);
    clearInterval(this.#beats);
    this.#wanted?.settle(new WaybillError(503, "This page no longer receives work."));
  }

  /** As much as it holds, and one more if the person wants one: otherwise it has no room. */
  get #credit(): number {
    return this.held.value.length + (this.#wanted === undefined ? 0 : 1);
  }

  /** Accepts a handoff that waits; without an id, the one that the hub offers first. */
  accept(id?: string): Promise<void> {
    return this.#want(id, async ({ attempt, lease_ms: leaseMs }, handoff, digest) => {
      await this.#reply(handoff, digest, attempt, { kind: "receipt", body: { status: 101 } });
      this.#hold({ handoff, digest, attempt, leaseMs, asked: [], answers: [] });
    });
  }

  /** Rejects a handoff that waits, for a reason. */
  decline(id: string, reason: string): Promise<void> {
    return this.#want(id, ({ attempt }, handoff, digest) =>
      this.#reply(handoff, digest, attempt, { kind: "receipt", body: { status: 403, reason } }),
    );
  }

  async #want(id: string | undefined, act: Wanted["act"]): Promise<void> {
    if (this.#wanted !== undefined) {
      throw new WaybillError(409, "The hub is being asked for other work; wait a moment.");
    }
    if (this.state.value.type !== "open") {
      throw new WaybillError(503, "The inbox is not open; wait until it is.");
    }
    const offered = new Promise<void>((resolve, reject) => {
      const settle = (error?: WaybillError) => (error === undefined ? resolve() : reject(error));
      this.#wanted = { id, act, settle, passed: 0 };
    });
    const timer = setTimeout(() => this.#wanted?.settle(notOffered(id)), OFFER_MS);
    // Said again: a poll that was on its way may have had the credit of before.
    const again = setInterval(
      () => void this.#report({ credit: this.#credit }).catch(later),
      AGAIN_MS,
    );
    try {
      await this.#report({ credit: this.#credit });
      await offered;
    } finally {
      clearTimeout(timer);
      clearInterval(again);
      this.#wanted = undefined;
      await this.#report({ credit: this.#credit });
    }
  }

  async #take(delivery: Delivery): Promise<void> {
    try {
      if (delivery.type === "offer") return await this.#offered(delivery);
      if (delivery.type === "stop") return this.#stopped(delivery);
      const { from } = payloadOf(delivery.envelope);
      const { envelope, digest } = await this.#post.verifyReceived(
        delivery.envelope,
        from,
        delivery,
      );
      this.#arrived(envelope, digest);
    } catch (error) {
      // One that does not hold must not keep the others back.
      const { message } = WaybillError.from(error);
      this.news.value = `Something about ${delivery.handoff_id} was not taken: ${message}`;
    }
  }

  async #offered(offer: Offer): Promise<void> {
    const { from } = payloadOf(offer.envelope);
    const { envelope, digest } = await this.#post.verifyReceived(offer.envelope, from, offer);
    const { agent } = this.who;
    if (envelope.kind !== "handoff" || envelope.handoff_id !== offer.handoff_id) {
      throw new WaybillError(400, "The hub offered another handoff than it says.");
    }
    if (typeof envelope.to === "string" && envelope.to !== agent) {
      throw new WaybillError(403, `This handoff is for ${envelope.to}.`);
    }
    const { attempt, lease_ms: leaseMs, is_accepted: isAccepted } = offer;
    if (isAccepted) {
      // The page was closed and opened again within the lease: the person continues.
      const known = this.held.value.find((each) => each.handoff.handoff_id === offer.handoff_id);
      if (known?.attempt === attempt) return;
      const answers: AnswerEnvelope["body"][] = [];
      for (const text of offer.answers) {
        const answer = (await this.#post.verifyReceived(text, from, offer)).envelope;
        if (answer.kind === "answer") answers.push(answer.body);
      }
      const asked = await this.#askedAbout(offer.handoff_id);
      return this.#hold({ handoff: envelope, digest, attempt, leaseMs, asked, answers });
    }
    const wanted = this.#wanted;
    if (wanted === undefined || (wanted.id !== undefined && wanted.id !== envelope.handoff_id)) {
      await this.#pass(envelope, digest, attempt);
      if (wanted !== undefined && ++wanted.passed > PASSED_AT_MOST) wanted.settle(tooFarBack());
      return;
    }
    try {
      await wanted.act(offer, envelope, digest);
      wanted.settle();
    } catch (error) {
      wanted.settle(WaybillError.from(error));
    }
  }

  /** What the person has asked about a handoff, from the record of the hub. */
  async #askedAbout(id: string): Promise<readonly AskedQuestion[]> {
    const { agent } = this.who;
    const path = `/v1/handoffs/${encodeURIComponent(id)}`;
    const view = await get<WireHandoffView>(path, undefined, proofBy(this.who));
    const own = view.questions.filter((text) => payloadOf(text).from === agent);
    const read = await Promise.all(own.map((text) => this.#post.verifyReceived(text, agent, view)));
    return read.flatMap(({ envelope }) =>
      envelope.kind === "question" ? envelope.body.questions : [],
    );
  }

  /** Gives back what was offered before the work that the person has chosen. */
  #pass(handoff: HandoffEnvelope, digest: Digest, attempt: number): Promise<void> {
    const reason = `${this.who.agent} has chosen other work first.`;
    return this.#reply(handoff, digest, attempt, {
      kind: "receipt",
      body: { status: 300, reason, retry_after_ms: PASSED_MS },
    });
  }

  #stopped({ handoff_id: id, attempt, reason }: Extract<Delivery, { type: "stop" }>): void {
    const held = this.held.value.find((each) => each.handoff.handoff_id === id);
    if (held?.attempt !== attempt) return;
    this.#drop(id);
    this.news.value = `Your work on ${held.handoff.body.capability} was ended: ${reason}.`;
  }

  #arrived(envelope: Envelope, digest: Digest): void {
    const { handoff_id: id } = envelope;
    if (envelope.kind === "answer") {
      const { body } = envelope;
      this.#change(id, (held) => ({
        answers: [...held.answers.filter((each) => each.question_id !== body.question_id), body],
      }));
      this.news.value = `${envelope.from} has answered your question.`;
    } else if (envelope.kind === "question") {
      const known = this.questions.value.filter(({ question }) => question.id !== envelope.id);
      const asked = envelope.body.questions.map((each) => ({
        question: envelope,
        digest,
        asked: each,
      }));
      this.questions.value = [...known, ...asked];
      this.news.value = `${envelope.from} asks you: ${asked[0]?.asked.text ?? "a question"}`;
    } else if (isEnding(envelope)) {
      this.questions.value = this.questions.value.filter(
        ({ question }) => question.handoff_id !== id,
      );
      const others = this.endings.value.filter((each) => each.digest !== digest);
      this.endings.value = [...others, { envelope, digest }];
      this.news.value = `Work that you handed off has ended: ${envelope.body.status}.`;
    }
  }

  /** Answers a question about work that the person has handed off. */
  async answer({ question, digest: re, asked }: OpenQuestion, answer: Json): Promise<void> {
    const { agent: from } = this.who;
    const { handoff_id: id, from: to } = question;
    const handoff = await this.#post.ownHandoff(id);
    const body = { question_id: asked.id, answer };
    await this.#post.submit(createReply(handoff, { kind: "answer", from, to, re, body }));
    this.questions.value = this.questions.value.filter(
      (each) => each.question.id !== question.id || each.asked.id !== asked.id,
    );
  }

  /** Confirms that the person has read how their handoff ended. */
  async acknowledge(ending: Ending): Promise<void> {
    await acknowledge(this.#post, [ending]);
    this.endings.value = this.endings.value.filter(({ digest }) => digest !== ending.digest);
  }

  /** Delivers the result of work that the person holds. */
  async deliver(work: HeldWork, body: ResultBody): Promise<void> {
    const { handoff, digest, attempt } = work;
    await this.#reply(handoff, digest, attempt, { kind: "result", body });
    this.#drop(handoff.handoff_id);
  }

  /** Gives work back without a verdict: it is offered again. */
  async giveBack({ handoff, digest, attempt }: HeldWork, reason: string): Promise<void> {
    const body = { status: 300, reason, retry_after_ms: PASSED_MS } as const;
    await this.#reply(handoff, digest, attempt, { kind: "receipt", body });
    this.#drop(handoff.handoff_id);
  }

  /** Asks whoever handed the work off. Until the answer only its deadline counts. */
  async ask(
    { handoff, digest, attempt }: HeldWork,
    asked: Omit<AskedQuestion, "id">,
  ): Promise<void> {
    const question = { ...asked, id: newId() };
    const body = { questions: [question] };
    await this.#reply(handoff, digest, attempt, { kind: "question", body });
    this.#change(handoff.handoff_id, (held) => ({ asked: [...held.asked, question] }));
  }

  #reply(
    handoff: HandoffEnvelope,
    re: Digest,
    attempt: number,
    given: Pick<Extract<Envelope, { kind: "receipt" | "result" | "question" }>, "kind" | "body">,
  ): Promise<void> {
    const { agent: from } = this.who;
    return this.#post.submit(createReply(handoff, { ...given, from, re, attempt } as never));
  }

  #hold(work: HeldWork): void {
    this.#drop(work.handoff.handoff_id);
    this.held.value = [...this.held.value, work];
    this.#beat();
  }

  #drop(id: string): void {
    this.held.value = this.held.value.filter((each) => each.handoff.handoff_id !== id);
    this.#beat();
  }

  #change(id: string, changed: (held: HeldWork) => Partial<HeldWork>): void {
    this.held.value = this.held.value.map((each) =>
      each.handoff.handoff_id === id ? { ...each, ...changed(each) } : each,
    );
  }

  /** Keeps the leases for as long as this page is open. */
  #beat(): void {
    clearInterval(this.#beats);
    const held = this.held.value;
    if (held.length === 0) return;
    const every = Math.min(...held.map(({ leaseMs }) => leaseMs)) / BEATS_PER_LEASE;
    this.#beats = setInterval(() => {
      const heartbeats = this.held.value.map(({ handoff, attempt }) => ({
        handoff_id: handoff.handoff_id,
        attempt,
      }));
      this.#report({ heartbeats }).catch(later);
    }, every);
  }

  #report(news: Omit<WireInboxNews, "instance">): Promise<void> {
    const body = { instance: this.#instance, ...news };
    return post("/v1/inbox", body, proofBy(this.who));
  }
}

/** The poll finds out, too, and shows it. */
function later(): void {}

function notOffered(id: string | undefined): WaybillError {
  return new WaybillError(
    404,
    id === undefined
      ? "Nothing waits for you now."
      : "The hub does not offer this work to you now: it has ended, somebody else has it, or it waits before another attempt. Open its record to see which, and try again.",
  );
}

function tooFarBack(): WaybillError {
  return new WaybillError(
    301,
    `More than ${PASSED_AT_MOST} pieces of work come before this one. Take one of those first.`,
  );
}

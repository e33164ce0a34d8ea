import type { LedgerEntry } from "@waybill/hub";
import { parseEnvelope, parseJson, parseManifest, readCompact, statusOf } from "@waybill/protocol";
import type { Digest, Envelope, HandoffEnvelope, StatusCode } from "@waybill/protocol";
import { frameworkOf } from "../staff/staff.ts";
import type { EventName, StoryEvent, Tone } from "./event.ts";
import { indexOfQuestion } from "./questions.ts";
import { Signatures } from "./signatures.ts";

interface Decision {
  readonly type: string;
  readonly recipient?: string;
  readonly by?: string;
  readonly status?: StatusCode;
}

interface Known {
  readonly about: string;
  offers: number;
  /** The attempt has ended with a question; the next one has the answer. */
  isPaused: boolean;
}

type StoryLine = Pick<StoryEvent, "event" | "says" | "tone" | "status" | "to">;

/** Turns the entries of a ledger into events. */
export class Story {
  readonly #hub: string;
  readonly #signatures = new Signatures();
  readonly #handoffs = new Map<string, Known>();
  /** Signed by an agent; the hub's receipt for it comes next. */
  readonly #unconfirmed = new Map<Digest, StoryEvent>();

  constructor(hub: string) {
    this.#hub = hub;
  }

  take(entry: LedgerEntry): StoryEvent[] {
    this.#signatures.check(entry);
    if (entry.type === "manifest") return this.#manifest(entry);
    return entry.type === "envelope" ? this.#envelope(entry) : this.#decision(entry);
  }

  #manifest({ at, content }: LedgerEntry): StoryEvent[] {
    const { agent_id: who, capabilities } = parseManifest(parseJson(readCompact(content).payload));
    const can = capabilities.map(({ name }) => name).join(", ");
    const made = frameworkOf(who);
    const says = `comes to the hub${can === "" ? "" : `, and can do ${can}`}`;
    const how = made === undefined ? "" : ` (${made})`;
    return [{ at, who, event: "joined", says: says + how, tone: "step", is_signed: true }];
  }

  #envelope({ at, content, digest }: LedgerEntry): StoryEvent[] {
    const envelope = parseEnvelope(readCompact(content).payload);
    const { from: who, handoff_id } = envelope;
    if (envelope.kind === "receipt" && envelope.body.status === 100 && who === this.#hub) {
      return [envelope, ...(envelope.body.also ?? [])].flatMap(({ re }) => {
        const event = this.#unconfirmed.get(re);
        this.#unconfirmed.delete(re);
        return event === undefined ? [] : [{ ...event, has_receipt: true }];
      });
    }
    // The hub's entries for each handoff tell the same.
    if (envelope.kind === "receipt" && envelope.body.also !== undefined) return [];
    if (envelope.kind === "handoff") {
      this.#handoffs.set(handoff_id, {
        about: aboutOf(envelope),
        offers: 0,
        isPaused: false,
      });
    }
    const handoff = this.#handoffs.get(handoff_id);
    const about = handoff?.about;
    if (envelope.kind === "question" && handoff !== undefined) {
      handoff.isPaused = envelope.body.state !== undefined;
    }
    const event = { at, who, about, handoff_id, is_signed: true, ...toldOf(envelope, about) };
    if (who === this.#hub) return [event];
    this.#unconfirmed.set(digest, event);
    return [];
  }

  #decision({ at, content, handoffId }: LedgerEntry): StoryEvent[] {
    const decision = JSON.parse(content) as Decision;
    const handoff = this.#handoffs.get(handoffId ?? "");
    if (handoff === undefined) return [];
    const { about } = handoff;
    const told = DECISIONS[decision.type]?.(decision, handoff);
    if (told === undefined) return [];
    if (decision.type === "offer") handoff.isPaused = false;
    return [{ at, who: this.#hub, about, handoff_id: handoffId!, ...told }];
  }
}

function aboutOf({ body, replay_of: replayOf }: HandoffEnvelope): string {
  const { capability, input } = body;
  if (capability !== "web_research") return ABOUT[capability] ?? capability;
  const number = (indexOfQuestion(JSON.stringify(input)) ?? -1) + 1;
  return `question ${number}${replayOf === undefined ? "" : ", again"}`;
}

const ABOUT: Readonly<Record<string, string>> = {
  publish_story: "the story",
  write_article: "the article",
  fact_check: "the facts",
};

function toldOf(envelope: Envelope, about = "it"): StoryLine {
  const { body } = envelope;
  const status = "status" in body ? body.status : undefined;
  switch (envelope.kind) {
    case "handoff": {
      const isReplay = envelope.replay_of !== undefined;
      const says = isReplay ? `replays the dead letter: ${about}` : `hands off ${about}`;
      return { event: isReplay ? "replayed" : "handed_off", says, tone: "step" };
    }
    case "receipt":
      return toldOfReceipt(envelope.body.status, about);
    case "progress": {
      const { message: says = "is at it", data } = envelope.body;
      const isOwn = (data as { step_of?: string } | undefined)?.step_of === envelope.from;
      return { event: isOwn ? "step" : "progress", says, tone: "step", status };
    }
    case "question": {
      const asked = envelope.body.questions.map(({ id, text }) => text ?? id).join(" ");
      return { event: "question", says: `asks: ${asked}`, tone: "warning" };
    }
    case "answer": {
      const says = `answers: ${wordsOf(envelope.body.answer)}`;
      return { event: "answer", says, tone: "step" };
    }
    case "result": {
      const { output, error } = envelope.body;
      const isGood = envelope.body.status === 200;
      const says = isGood ? wordsOf(output) : (error?.message ?? named(envelope.body.status));
      return { event: "result", says: `${about}: ${says}`, tone: isGood ? "good" : "bad", status };
    }
    case "cancel":
      return { event: "cancelled", says: `cancels ${about}`, tone: "warning" };
    case "notice": {
      const says = `tells ${envelope.to} of ${about}: ${named(envelope.body.status)}`;
      return { event: "told", says, tone: "step", status };
    }
  }
}

function toldOfReceipt(status: StatusCode, about: string): StoryLine {
  const told = (event: EventName, says: string, tone: Tone): StoryLine => ({
    event,
    says,
    tone,
    status,
  });
  if (status === 101) return told("accepted", `accepts ${about}`, "step");
  if (status === 201) return told("told", `has ${about} already: ${named(status)}`, "step");
  if (status === 200) return told("acknowledged", `has put away the end of ${about}`, "step");
  return told("offered", `gives ${about} back: ${named(status)}`, "warning");
}

type Teller = (decision: Decision, handoff: Known) => StoryLine;

const DECISIONS: Readonly<Record<string, Teller>> = {
  offer({ recipient }, handoff) {
    const { about, isPaused } = handoff;
    const attempt = ++handoff.offers;
    const says = isPaused
      ? `wakes ${recipient} with the answer: ${about}, attempt ${attempt}`
      : `offers ${about} to ${recipient}, attempt ${attempt}`;
    return { event: "offered", says, tone: "step", to: recipient };
  },
  acknowledge: ({ by }, { about }) => ({
    event: "acknowledged",
    says: `notes that ${by} has put away the end of ${about}`,
    tone: "step",
    status: 200,
  }),
  lease_lost: (_, { about }) => ({
    event: "lease_lost",
    says: `hears nothing more about ${about}: its lease is lost, ${named(502)}`,
    tone: "warning",
    status: 502,
  }),
  expire: (_, { about }) => ({
    event: "dead_lettered",
    says: `${about} is out of time, and a dead letter: ${named(504)}`,
    tone: "bad",
    status: 504,
  }),
  dead_letter: ({ status = 508 }, { about }) => ({
    event: "dead_lettered",
    says: `${about} is a dead letter: ${named(status)}`,
    tone: "bad",
    status,
  }),
};

function named(status: StatusCode): string {
  return `${status} ${statusOf(status).name}`;
}

/** The text of an output, without the braces around it. */
function wordsOf(output: unknown): string {
  if (typeof output === "string") return output;
  if (typeof output !== "object" || output === null) return JSON.stringify(output ?? null);
  const values = Object.values(output);
  return values.length === 1 ? wordsOf(values[0]) : JSON.stringify(output);
}

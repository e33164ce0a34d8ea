import type { LedgerEntry } from "@waybill/hub";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import type { Envelope, HandoffEnvelope } from "@waybill/protocol";
import type { Prey } from "../staff/imposter.ts";
import { indexOfQuestion, SLOW } from "../story/questions.ts";

type Work = Omit<Prey, "genuine">;

/** Looks for targets of forgery: work in progress, preferably the slow question, and a real result. */
export class Prying {
  readonly #prey = Promise.withResolvers<Prey>();
  readonly #asked = new Map<string, Omit<Work, "recipient">>();
  #slow: string | undefined;
  #isSlowOver = false;
  #accepted: Work | undefined;
  #genuine: string | undefined;

  get prey(): Promise<Prey> {
    return this.#prey.promise;
  }

  see({ type, content, handoffId }: LedgerEntry): void {
    if (type === "envelope") this.#read(parseEnvelope(readCompact(content).payload), content);
    else if (handoffId === this.#slow && content.includes('"expire"')) this.#isSlowOver = true;
    const isBest = this.#accepted?.handoff.handoff_id === this.#slow || this.#isSlowOver;
    if (this.#accepted === undefined || this.#genuine === undefined || !isBest) return;
    this.#prey.resolve({ ...this.#accepted, genuine: this.#genuine });
  }

  #read(envelope: Envelope, text: string): void {
    const { kind, handoff_id: id, from: recipient } = envelope;
    if (kind === "handoff" && isResearch(envelope)) {
      this.#asked.set(id, { handoff: envelope, text });
      if (isSlow(envelope)) this.#slow ??= id;
    } else if (kind === "receipt" && envelope.body.status === 101) {
      const asked = this.#asked.get(id);
      const isBetter = this.#accepted === undefined || id === this.#slow;
      if (asked !== undefined && isBetter) this.#accepted = { ...asked, recipient };
    } else if (kind === "result" && envelope.body.status === 200) {
      this.#genuine ??= text;
    }
  }
}

function isResearch({ body }: HandoffEnvelope): boolean {
  return body.capability === "web_research";
}

function isSlow({ body }: HandoffEnvelope): boolean {
  return indexOfQuestion(JSON.stringify(body.input ?? null)) === SLOW;
}

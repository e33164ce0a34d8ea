import type { LedgerEntry } from "@waybill/hub";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { Prey } from "../staff/imposter.ts";
import { indexOfQuestion, SLOW } from "../story/questions.ts";

/** Looks for what is worth forging: work that somebody has accepted, and a result that was given. */
export class Prying {
  readonly #prey = Promise.withResolvers<Prey>();
  #handoff: { readonly envelope: HandoffEnvelope; readonly text: string } | undefined;
  #recipient: string | undefined;
  #genuine: string | undefined;

  get prey(): Promise<Prey> {
    return this.#prey.promise;
  }

  see({ type, content }: LedgerEntry): void {
    if (type !== "envelope") return;
    const envelope = parseEnvelope(readCompact(content).payload);
    if (envelope.kind === "handoff") {
      const isSlow = indexOfQuestion(JSON.stringify(envelope.body.input ?? null)) === SLOW;
      const isFirst = this.#handoff === undefined;
      const isResearch = envelope.body.capability === "web_research";
      if (isSlow && isFirst && isResearch) this.#handoff = { envelope, text: content };
    } else if (envelope.kind === "receipt" && envelope.body.status === 101) {
      if (envelope.handoff_id === this.#handoff?.envelope.handoff_id) {
        this.#recipient = envelope.from;
      }
    } else if (envelope.kind === "result" && envelope.body.status === 200) {
      this.#genuine ??= content;
    }
    if (this.#handoff === undefined || this.#recipient === undefined) return;
    if (this.#genuine === undefined) return;
    const { envelope: handoff, text } = this.#handoff;
    this.#prey.resolve({ handoff, text, recipient: this.#recipient, genuine: this.#genuine });
  }
}

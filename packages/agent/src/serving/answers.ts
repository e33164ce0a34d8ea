import type { Json, VerifiedEnvelope } from "@waybill/protocol";
import { deferred } from "../delegating/deferred.ts";
import type { Deferred } from "../delegating/deferred.ts";

/** Answers by question, and the waits for them. */
export class Answers {
  readonly #known = new Map<string, Json>();
  readonly #waiting = new Map<string, Deferred<Json>>();
  #ended: Error | undefined;

  get known(): ReadonlyMap<string, Json> {
    return this.#known;
  }

  /** True while a handler waits for an answer. */
  get areWaitedFor(): boolean {
    return this.#waiting.size > 0;
  }

  /** Accepts only the delegator's answers, and only the first to each question. */
  receive({ envelope }: VerifiedEnvelope, delegator: string, handoffId: string): void {
    if (envelope.kind !== "answer" || envelope.from !== delegator) return;
    const { question_id: id, answer } = envelope.body;
    if (envelope.handoff_id !== handoffId || this.#known.has(id)) return;
    this.#known.set(id, answer);
    this.#waiting.get(id)?.resolve(answer);
    this.#waiting.delete(id);
  }

  wait(id: string): Promise<Json> {
    if (this.#known.has(id)) return Promise.resolve(this.#known.get(id)!);
    let waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      waiting = deferred<Json>();
      this.#waiting.set(id, waiting);
    }
    if (this.#ended !== undefined) waiting.reject(this.#ended);
    return waiting.promise;
  }

  end(reason: Error): void {
    this.#ended = reason;
    for (const waiting of this.#waiting.values()) waiting.reject(reason);
  }
}

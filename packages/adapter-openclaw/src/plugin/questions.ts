import type { HandoffHandle, QuestionEvent } from "@waybill/agent";

const known = new WeakMap<HandoffHandle, Questions>();

/**
 * The questions of a handoff, for a tool that waits and for the announcements at once: the stream of a
 * handle has one reader.
 */
export class Questions {
  readonly #asked: QuestionEvent[] = [];
  readonly #answered = new Set<string>();
  #more = Promise.withResolvers<void>();

  private constructor(handle: HandoffHandle) {
    void this.#read(handle);
  }

  static of(handle: HandoffHandle): Questions {
    const questions = known.get(handle) ?? new Questions(handle);
    known.set(handle, questions);
    return questions;
  }

  async #read(handle: HandoffHandle): Promise<void> {
    for await (const question of handle.questions) {
      this.#asked.push(question);
      this.#more.resolve();
      this.#more = Promise.withResolvers();
    }
  }

  markAnswered(questionId: string): void {
    this.#answered.add(questionId);
  }

  /** The first question that waits for an answer; never settles if there will be none. */
  async next(): Promise<QuestionEvent> {
    for await (const question of this.all()) if (!this.#answered.has(question.id)) return question;
    throw new Error("The questions have no end.");
  }

  /** Each question once, and then waits for more. */
  async *all(): AsyncGenerator<QuestionEvent> {
    for (let at = 0; ; at++) {
      while (at >= this.#asked.length) await this.#more.promise;
      yield this.#asked[at]!;
    }
  }
}

import type { DeltaEvent, ProgressEvent, QuestionEvent } from "@waybill/agent";
import { ShownText } from "@waybill/agent/adapter";
import type { RemoteWorking } from "./remote-output.ts";

/** Every preliminary result repeats the text, so a long one is shown from its end. */
const TEXT_LENGTH = 16_384;

/**
 * What a remote agent shows while it works, as preliminary results. Milestones and questions are given
 * one by one; pieces of text that nobody has taken yet are joined.
 */
export class Working {
  readonly #shown = new ShownText();
  readonly #next: RemoteWorking[] = [];
  #now: RemoteWorking = { waybill: "working", text: "" };
  #isTextLast = false;
  #changed = Promise.withResolvers<void>();

  progress({ message, fraction, data }: ProgressEvent): void {
    this.#add({ ...this.#now, progress: { message, fraction, data } });
  }

  delta(event: DeltaEvent): void {
    const text = `${this.#now.text}${this.#shown.add(event)}`.slice(-TEXT_LENGTH);
    if (this.#isTextLast) this.#next.pop();
    this.#add({ ...this.#now, text });
    this.#isTextLast = true;
  }

  /** Shows a question until it is answered. */
  async question<Answer>(asked: QuestionEvent, answer: Promise<Answer>): Promise<Answer> {
    const { id, text, data, schema } = asked;
    this.#add({ ...this.#now, question: { id, text, data, schema } });
    const given = await answer;
    const { question: _, ...others } = this.#now;
    this.#add(others);
    return given;
  }

  /** Gives everything that is shown until the work ends, one way or the other. */
  async *until(ended: Promise<unknown>): AsyncGenerator<RemoteWorking, void> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
      this.#changed.resolve();
    };
    ended.then(end, end);
    for (;;) {
      while (this.#next.length > 0) {
        const next = this.#next.shift()!;
        if (this.#next.length === 0) this.#isTextLast = false;
        yield next;
      }
      if (isOver) return;
      await this.#changed.promise;
      this.#changed = Promise.withResolvers();
    }
  }

  #add(now: RemoteWorking): void {
    this.#now = now;
    this.#next.push(now);
    this.#isTextLast = false;
    this.#changed.resolve();
  }
}

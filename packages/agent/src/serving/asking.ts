import type { AskedQuestion, QuestionEnvelope, Json } from "@waybill/protocol";
import type { Answers } from "./answers.ts";
import { returnedPause } from "./outcome.ts";
import type { Returned } from "./outcome.ts";
import type { JsonLike } from "../capability/json-like.ts";
import type { Ask } from "./work.ts";

/** The questions of one attempt. Those without an id are numbered, so that each attempt uses the same ids. */
export class Asking {
  readonly #agent: string;
  readonly #answers: Answers;
  readonly #send: (body: QuestionEnvelope["body"]) => Promise<void>;
  #asked = 0;

  constructor(
    agent: string,
    answers: Answers,
    send: (body: QuestionEnvelope["body"]) => Promise<void>,
  ) {
    this.#agent = agent;
    this.#answers = answers;
    this.#send = send;
  }

  async ask(question: Ask<JsonLike> | string): Promise<Json> {
    const named = this.#named(question);
    if (!this.#answers.known.has(named.id)) await this.#send({ questions: [named] });
    return this.#answers.wait(named.id);
  }

  pause(questions: readonly Ask<JsonLike>[] | Ask<JsonLike> | string, state: string): Returned {
    const all = Array.isArray(questions)
      ? (questions as Ask<JsonLike>[])
      : [questions as Ask<JsonLike> | string];
    return returnedPause(
      all.map((each) => this.#named(each)),
      state,
    );
  }

  #named(question: Ask<JsonLike> | string): AskedQuestion {
    const asked = (typeof question === "string" ? { text: question } : question) as Ask;
    this.#asked++;
    return { ...asked, id: asked.id ?? `${this.#agent}/${this.#asked}` };
  }
}

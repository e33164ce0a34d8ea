import type { QuestionEvent } from "@waybill/agent";
import type { Json } from "@waybill/protocol";

/** A question is open: the step that waits ends here, and the next one asks. */
export class Asked extends Error {
  override readonly name: string = "Asked";
  readonly question: QuestionEvent;

  constructor(question: QuestionEvent) {
    super(`A question waits for its answer: ${question.text ?? question.id}`);
    this.question = question;
  }
}

/** Passes on answers from earlier steps, and ends the wait with the questions that are open. */
export function answering(
  answers: Readonly<Record<string, Json>>,
): (question: QuestionEvent) => Promise<Json> {
  return async (question) => {
    if (Object.hasOwn(answers, question.id)) return answers[question.id]!;
    throw new Asked(question);
  };
}

import type { Ask } from "@waybill/agent";

/** What is asked, under the id that its answer is given by. */
export type Question = Ask & { readonly id: string };

/** Thrown through whatever has asked, so that nothing waits in memory. */
export class WaitingForAnswer extends Error {
  readonly question: Question;

  constructor(question: Question) {
    super(`An answer is waited for: ${question.text ?? question.id}`);
    this.question = question;
  }
}

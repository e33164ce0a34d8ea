import type { Ask } from "@waybill/agent";

export type Question = Ask & { readonly id: string };

/** Thrown through the code that has asked, so that nothing waits in memory. */
export class WaitingForAnswer extends Error {
  readonly question: Question;

  constructor(question: Question) {
    super(`An answer is waited for: ${question.text ?? question.id}`);
    this.question = question;
  }
}

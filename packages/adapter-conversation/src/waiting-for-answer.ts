import type { Ask } from "@waybill/agent";

/** A question, with the id under which its answer is given. */
export type Question = Ask & { readonly id: string };

/** Thrown through all callers, so that nothing waits in memory. */
export class WaitingForAnswer extends Error {
  readonly question: Question;

  constructor(question: Question) {
    super(`An answer is waited for: ${question.text ?? question.id}`);
    this.question = question;
  }
}

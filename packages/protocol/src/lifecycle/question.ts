import { closeLast, withLast } from "./attempt.ts";
import { exhausted } from "./ending.ts";
import type { Attempt, EventOf, Handoff, Question, Step } from "./handoff.ts";
import { LIMITS } from "../limits.ts";
import { RECEIVED, refused } from "./reply.ts";
import { isExhausted } from "./retry.ts";
import { ATTEMPT_MOVES } from "./transitions.ts";

/** A recipient asks, and either waits for the answers or pauses its attempt until they arrive. */
export function asked(
  state: Handoff,
  attempt: Attempt,
  event: EventOf<"question" | "pause">,
): Step {
  if (event.questions.length === 0) return refused(state, 400);
  const open = new Set<string>();
  let added = 0;
  for (const id of event.questions) {
    const known = state.questions.find((question) => question.id === id);
    if (known === undefined) {
      if (!open.has(id)) added++;
      open.add(id);
    } else if (state.attempts[known.attempt - 1]!.recipient !== attempt.recipient) {
      // Otherwise the answer to one agent's question could be taken for the answer to another's.
      return refused(state, 409);
    } else if (known.answer === null && known.attempt !== attempt.number) {
      open.add(id);
    }
  }
  if (state.questions.length + added > LIMITS.fanOut) return refused(state, 413);
  // An answered question stays answered: its answer is sent with every offer.
  if (event.type === "question" && open.size === 0) return refused(state, 201);
  const questions =
    open.size === 0
      ? state.questions
      : [
          ...state.questions.filter(({ id }) => !open.has(id)),
          ...Array.from(open, (id): Question => ({ id, attempt: attempt.number, answer: null })),
        ];
  return event.type === "question"
    ? waiting(state, attempt, questions)
    : paused(state, attempt, questions, event.at);
}

function waiting(state: Handoff, attempt: Attempt, questions: readonly Question[]): Step {
  const attempts = withLast(state, {
    ...attempt,
    state: "waiting",
    status: 103,
    isTaken: true,
    silentAt: null,
  });
  return {
    state: { ...state, status: 103, attempts, questions },
    effects: [RECEIVED, { type: "forward", to: "delegator", attempt: attempt.number }],
  };
}

function paused(
  before: Handoff,
  attempt: Attempt,
  questions: readonly Question[],
  at: number,
): Step {
  const attempts = closeLast(before, attempt, "pause", 103);
  const resumes = { attempt: attempt.number, recipient: attempt.recipient };
  const state: Handoff = { ...before, attempts, questions, resumes };
  if (isExhausted(state, attempts)) return exhausted(state, "pause", { status: 103 });
  const forward = { type: "forward", to: "delegator", attempt: attempt.number } as const;
  // The answers may have crossed the pause on their way.
  if (isAllAnswered(questions, attempt.number)) {
    return {
      state: { ...state, status: 100, nextAttemptAt: at },
      effects: [RECEIVED, forward, { type: "retry", at }],
    };
  }
  return { state: { ...state, status: 103 }, effects: [RECEIVED, forward] };
}

/** The delegator answers one question; the last answer ends the wait. */
export function answered(state: Handoff, event: EventOf<"answer">): Step {
  if (event.by !== state.delegator) return refused(state, 403);
  const question = state.questions.find(({ id }) => id === event.question);
  if (question === undefined) return refused(state, 403);
  if (question.answer !== null) return refused(state, question.answer === event.digest ? 201 : 410);
  const attempt = state.attempts[question.attempt - 1]!;
  const to = ATTEMPT_MOVES.answer.moves[attempt.state];
  const isPaused = attempt.closed === "paused";
  if (state.state !== "open" || (to === undefined && !isPaused)) return refused(state, 410);
  const questions = state.questions.map((each) =>
    each === question ? { ...each, answer: event.digest } : each,
  );
  const isLast = isAllAnswered(questions, attempt.number);
  if (to === undefined) {
    if (!isLast) return { state: { ...state, questions }, effects: [RECEIVED] };
    return {
      state: { ...state, status: 100, questions, nextAttemptAt: event.at },
      effects: [RECEIVED, { type: "retry", at: event.at }],
    };
  }
  const forward = { type: "forward", to: "recipient", attempt: attempt.number } as const;
  if (!isLast) return { state: { ...state, questions }, effects: [RECEIVED, forward] };
  const silentAt = event.at + state.terms.leaseMs;
  const attempts = withLast(state, { ...attempt, state: to, status: 102, silentAt });
  return {
    state: { ...state, status: 102, attempts, questions },
    effects: [RECEIVED, forward],
  };
}

function isAllAnswered(questions: readonly Question[], attempt: number): boolean {
  return questions.every((each) => each.attempt !== attempt || each.answer !== null);
}

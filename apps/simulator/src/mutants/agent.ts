import type { Mutant } from "./mutant.ts";

const FOLDER = "packages/agent/src";

export const AGENT_MUTANTS: readonly Mutant[] = [
  {
    name: "effect-key-with-attempt",
    why: "a side effect happens again with each attempt, because its key contains the attempt",
    patches: [
      {
        file: "apps/simulator/src/agent/recipient.ts",
        find: "const key = attempt.handoff.handoff_id;",
        replace: "const key = `${attempt.handoff.handoff_id}/${attempt.offer.attempt}`;",
      },
      {
        file: "apps/simulator/src/real/handler.ts",
        find: "const key = work.handoffId;",
        replace: "const key = `${work.handoffId}/${work.attempt}`;",
      },
    ],
  },
  {
    name: "line-not-opened-again",
    why: "an agent does not reconnect after its connection is lost",
    patches: [
      {
        file: `${FOLDER}/link/link.ts`,
        find: "this.#attachAgain().catch(",
        replace: "Promise.resolve().catch(",
      },
    ],
  },
  {
    name: "answers-of-the-offer-dropped",
    why: "an attempt that resumes after a pause misses the answers that came with its offer",
    patches: [
      {
        file: `${FOLDER}/serving/run.ts`,
        find: "for (const answer of this.#offer.answers) await",
        replace: "for (const answer of this.#offer.answers.slice(1)) await",
      },
    ],
  },
];

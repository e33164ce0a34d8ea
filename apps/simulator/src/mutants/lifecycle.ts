import type { Mutant } from "./mutant.ts";

const FOLDER = "packages/protocol/src/lifecycle";

export const LIFECYCLE_MUTANTS: readonly Mutant[] = [
  {
    name: "terminal-guard-removed",
    why: "a handoff that has ended can still be cancelled",
    patches: [
      {
        file: `${FOLDER}/lifecycle.ts`,
        find: 'if (state.state !== "open") return refused(state, state.outcome === event.digest ? 201 : 410);',
        replace: "",
      },
    ],
  },
  {
    name: "late-result-accepted",
    why: "the result of a closed attempt ends the handoff",
    patches: [
      {
        file: `${FOLDER}/recipient.ts`,
        find: 'if (attempt.state === "closed") {',
        replace: 'if (attempt.state === "closed" && event.type !== "result") {',
      },
      {
        file: `${FOLDER}/recipient.ts`,
        find: "if (to === undefined) return refused(",
        replace: 'if (to === undefined && event.type !== "result") return refused(',
      },
    ],
  },
  {
    name: "anybody-may-report",
    why: "a result counts, whoever has signed it",
    patches: [
      {
        file: `${FOLDER}/recipient.ts`,
        find: "if (attempt === undefined || attempt.recipient !== event.by) return refused(state, 403);",
        replace: "if (attempt === undefined) return refused(state, 403);",
      },
      {
        file: `${FOLDER}/recipient.ts`,
        find: 'if ("re" in event && event.re !== state.digest) return refused(state, 409);',
        replace: "",
      },
    ],
  },
  {
    name: "lease-not-extended",
    why: "progress does not extend the lease",
    patches: [
      {
        file: `${FOLDER}/recipient.ts`,
        find: "const silentAt = isWaiting ? null : extendedLease(state, attempt, event.at);",
        replace:
          'const isHeld = attempt.state === "accepted";\n  const silentAt = isWaiting ? null : isHeld ? attempt.silentAt : extendedLease(state, attempt, event.at);',
      },
    ],
  },
  {
    name: "lease-never-lost",
    why: "an attempt may stay silent forever",
    patches: [
      {
        file: `${FOLDER}/timer.ts`,
        find: "const silentAt = liveAttempt(state)?.silentAt ?? Infinity;",
        replace:
          'const live = liveAttempt(state);\n  const silentAt = live?.state === "accepted" ? Infinity : (live?.silentAt ?? Infinity);',
      },
    ],
  },
  {
    name: "not-before-ignored",
    why: "work is offered before it may start",
    patches: [
      {
        file: `${FOLDER}/lifecycle.ts`,
        find: "const startsAt = Math.max(event.at, event.notBefore ?? event.at);",
        replace: "const startsAt = event.at;",
      },
    ],
  },
  {
    name: "deadline-not-enforced",
    why: "a handoff that waits for a recipient never expires",
    patches: [
      {
        file: "packages/hub/src/custody/handoff-record.ts",
        find: "return isWaiting ? state.deadline : wakeAt(state);",
        replace: "return isWaiting ? null : wakeAt(state);",
      },
    ],
  },
];

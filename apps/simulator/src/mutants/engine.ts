import type { Scenario } from "../world/scenario.ts";
import type { Mutant } from "./mutant.ts";

const FOLDER = "packages/hub/src";
const COMMIT = "const outcomes = commits.length === 0 ? [] : await this.#writer.commit(commits);";
const LOST = 'if (outcome.type !== "committed") return { type: "conflict" };';

const WRITE =
  "written = await engine.groupCommit.commit({ id, before, transaction, sharesReceipt });";
const LOST_RACE = "await onConflict(engine, id, before);\n      if (written.type";
const IMPORT_STORED_OF = {
  file: `${FOLDER}/engine/commit-handoff.ts`,
  find: 'import type { HandoffRecord } from "../custody/handoff-record.ts";',
  replace:
    'import { storedOf } from "../custody/handoff-record.ts";\nimport type { HandoffRecord } from "../custody/handoff-record.ts";',
};

/** Two hubs on a reliable line: no agent attaches again, which would deliver what was withheld. */
const TWO_HUBS: Partial<Scenario> = {
  hubs: 2,
  network: { dropped: 0, repeated: 0, held: 0, latencyMs: 5, breaksEveryMs: Infinity },
  disk: { crashes: 0, errors: 0, syncMs: 1 },
  crashesEveryMs: Infinity,
  leaves: 0,
};

/**
 * Calm from early on, so that all silence counts, and an offer stands far longer than a grace period.
 * Many agents take something before that, and then leave.
 */
const LONG_OFFERS: Partial<Scenario> = {
  faultsUntilMs: 2_000,
  crashesEveryMs: 500,
  jobs: 120,
  agents: 8,
  leaves: 0.8,
  terms: { offerMs: 60_000, graceMs: 500, backoffMs: 50, backoffCapMs: 2_000 },
};

/** Most offers are restricted. */
const RESTRICTED: Partial<Scenario> = { restricted: 0.6, agents: 6 };

export const ENGINE_MUTANTS: readonly Mutant[] = [
  {
    name: "offers-what-is-for-others",
    why: "a handoff goes to any agent that offers its capability, whatever its restrictions",
    worlds: RESTRICTED,
    patches: [
      {
        file: `${FOLDER}/routing/router.ts`,
        find: "const offered = await this.#access.permitted(all, askerOfRecord(record));",
        replace: "const offered = all;",
      },
    ],
  },
  {
    name: "session-of-everybody",
    why: "a session is found by its id alone, without its delegator",
    patches: [
      {
        file: `${FOLDER}/custody/handoff-transaction.ts`,
        find: "const name = `${sessionKey(principalOf(envelope), session.id)} ${capability}`;",
        replace:
          'const name = `${sessionKey("all", session.id)} ${principalOf(envelope) && capability}`;',
      },
    ],
  },
  {
    name: "every-agent-in-every-group",
    why: "an agent that takes work from a group takes it from everybody",
    worlds: RESTRICTED,
    patches: [
      {
        file: `${FOLDER}/access/access.ts`,
        find: "(name) => groups.includes(name)",
        replace: "(name) => groups.includes(name) || name.length > 0",
      },
    ],
  },
  {
    name: "receipt-before-commit",
    why: "the hub signs for a handoff that it has yet to write",
    patches: [
      {
        file: `${FOLDER}/custody/handoff-records.ts`,
        find: COMMIT,
        replace: `const committing = this.#writer.commit(commits);
    const isNew = writes.length > 0 && writes.every(({ version }) => version === 1);
    const made = { type: "committed", lastSequence: 0 } as const;
    const outcomes = isNew ? commits.map(() => made) : await committing;`,
      },
    ],
  },
  {
    name: "deliver-before-commit",
    why: "offers, results and stops leave before they are on disk",
    patches: [
      {
        file: `${FOLDER}/engine/commit-handoff.ts`,
        find: WRITE,
        replace: `const sent = transaction.isChanged && storedOf({ version: transaction.version + 1, record: transaction.record! });
        if (sent) await deliver(engine, transaction, sent);
        ${WRITE}`,
      },
      IMPORT_STORED_OF,
    ],
  },
  {
    name: "conflict-taken-for-success",
    why: "a hub continues as if its write had won over another hub's",
    patches: [
      {
        file: `${FOLDER}/custody/handoff-records.ts`,
        find: LOST,
        replace: "",
      },
    ],
  },
  {
    name: "both-hubs-offer",
    why: "a hub that lost the race sends its offer, too",
    patches: [
      {
        file: `${FOLDER}/engine/commit-handoff.ts`,
        find: LOST_RACE,
        replace: `const sent = transaction.isChanged && storedOf({ version: transaction.version + 1, record: transaction.record! });
      if (sent) await deliver(engine, transaction, sent);
      ${LOST_RACE}`,
      },
      IMPORT_STORED_OF,
    ],
  },
  {
    name: "grace-not-kept",
    why: "a taken offer that is never accepted is only noticed when the offer expires",
    worlds: LONG_OFFERS,
    patches: [
      {
        file: `${FOLDER}/engine/commit-frame.ts`,
        find: "engine.acceptanceTimers.note(handoffId, { by, attempt, at, until });",
        replace: "void [by, attempt, at, until];",
      },
    ],
  },
  {
    name: "timers-not-armed-at-start",
    why: "timers are not armed again when a hub restarts",
    patches: [
      {
        file: `${FOLDER}/engine/timers.ts`,
        find: "  async start(): Promise<void> {\n    this.note(await this.#store.nextWakeAt());",
        replace: "  async start(): Promise<void> {\n    await this.#store.nextWakeAt();",
      },
      {
        // Otherwise the first timer of new work would also arm those of the life before.
        file: `${FOLDER}/engine/timers.ts`,
        find: "      this.note(await this.#store.nextWakeAt());\n    } catch",
        replace: "      await this.#store.nextWakeAt();\n    } catch",
      },
    ],
  },
  {
    name: "list-not-on-record",
    why: "handoffs are acknowledged by an envelope that the ledger does not have",
    patches: [
      {
        file: `${FOLDER}/engine/acknowledge.ts`,
        find: "const isNew = await putOnRecord(engine, list, expected.includes(100));",
        replace: "const isNew = true;\n  void putOnRecord;",
      },
    ],
  },
  {
    name: "receipt-for-unwritten",
    why: "a receipt for several is written although one of them is not",
    patches: [
      {
        file: `${FOLDER}/custody/handoff-records.ts`,
        find: "dependsOn: of.map((pending) => places.get(pending)!),",
        replace: "dependsOn: of.slice(0, 0).map((pending) => places.get(pending)!),",
      },
    ],
  },
  {
    name: "list-half-done",
    why: "a repeated list does not acknowledge what a crash has left",
    patches: [
      {
        file: `${FOLDER}/engine/acknowledge.ts`,
        find: "expected[index] === 100 ? settle(engine, list, each) : expected[index]!",
        replace: "expected[index] === 100 && isNew ? settle(engine, list, each) : expected[index]!",
      },
    ],
  },
  {
    name: "acknowledgement-forgotten",
    why: "a restarted hub does not know that a result was acknowledged",
    patches: [
      {
        file: `${FOLDER}/custody/handoff-record.ts`,
        find: "return { version: stored.version, record: JSON.parse(stored.record) as HandoffRecord };",
        replace: `const record = JSON.parse(stored.record) as HandoffRecord;
  return {
    version: stored.version,
    record: { ...record, state: { ...record.state, isAcknowledged: false } },
  };`,
      },
    ],
  },
  {
    name: "nothing-delivered-again",
    why: "an agent that was offline never gets what it missed",
    patches: [
      {
        file: `${FOLDER}/routing/attach-agent.ts`,
        find: "await engine.deliveries.deliverMissed(",
        replace: "void (",
      },
    ],
  },
  {
    name: "child-not-cancelled",
    why: "the children of an ended handoff continue",
    patches: [
      {
        file: `${FOLDER}/engine/conclude.ts`,
        find: 'if (hasChildren) transaction.addAfterEnd("children");',
        replace: "",
      },
    ],
  },
  {
    name: "answers-left-out",
    why: "an attempt that resumes after a pause does not get the answers",
    patches: [
      {
        file: `${FOLDER}/engine/deliveries.ts`,
        find: "answers: texts.slice(isResumed ? 2 : 1),",
        replace: "answers: [],",
      },
    ],
  },
  {
    name: "room-not-noticed",
    why: "an agent that has room again is not offered the waiting handoffs",
    patches: [
      {
        file: `${FOLDER}/routing/agent-session.ts`,
        find: "if (this.#letGo(handoffId) && this.room > 0) this.#events.hasRoom(this);",
        replace: "this.#letGo(handoffId);",
      },
    ],
  },
  {
    name: "lost-answer-forgotten",
    why: "a commit with an unknown outcome is never reported",
    patches: [
      {
        file: `${FOLDER}/engine/commit-handoff.ts`,
        find: "if (stored === undefined) return;",
        replace: "if (stored === undefined || stored.version > 0) return;",
      },
    ],
    worlds: { ...TWO_HUBS, store: { latencyMs: 4, answersLost: 0.03 } },
  },
  {
    name: "heartbeat-race-not-followed",
    why: "a concurrent write of another hub counts as the heartbeat",
    patches: [
      {
        file: `${FOLDER}/engine/commit-frame.ts`,
        find: 'if (written.type === "conflict") await onConflict(engine, id, before);',
        replace: "void written;",
      },
    ],
    worlds: { ...TWO_HUBS, store: { latencyMs: 40, answersLost: 0 } },
  },
];

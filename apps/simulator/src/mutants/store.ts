import type { Mutant } from "./mutant.ts";

const FOLDER = "packages/hub/src";
const SYNC = "await this.#disk.append(changesFrame(changes));\n      await this.#disk.sync();";

export const STORE_MUTANTS: readonly Mutant[] = [
  {
    name: "acknowledged-before-sync",
    why: "a commit is reported as durable when it is only written",
    patches: [
      {
        file: `${FOLDER}/memory-store.ts`,
        find: SYNC,
        replace:
          "await this.#disk.append(changesFrame(changes));\n      this.#disk.sync().catch(() => undefined);",
      },
    ],
  },
  {
    name: "accepted-before-sync",
    why: "new handoffs are synced, but later changes to them are not",
    patches: [
      {
        file: `${FOLDER}/memory-store.ts`,
        find: SYNC,
        replace: `await this.#disk.append(changesFrame(changes));
      const isNew = changes.some(
        (change) => change.type === "commit" && change.commit.handoff?.version === 1,
      );
      if (isNew) await this.#disk.sync();`,
      },
    ],
  },
  {
    name: "version-fence-removed",
    why: "of several hubs that write, the last one wins",
    patches: [
      {
        file: `${FOLDER}/memory-store/commit.ts`,
        find: "if (handoff !== null && handoff.version !== view.versionOf(handoff.id) + 1) {",
        replace: "if (handoff !== null && handoff.version < 0) {",
      },
    ],
  },
  {
    name: "replay-key-ignored",
    why: "a duplicate envelope is applied twice",
    patches: [
      {
        file: `${FOLDER}/memory-store/commit.ts`,
        find: 'if (known !== undefined) return { type: "replayed", digest: known };',
        replace: "",
      },
    ],
  },
  {
    name: "torn-end-not-cut",
    why: "records behind a torn one can't be read again",
    patches: [
      {
        file: `${FOLDER}/memory-store.ts`,
        find: "if (tornAt !== undefined) await this.#disk.append(cutFrame(tornAt));",
        replace: "",
      },
    ],
  },
  {
    name: "last-record-dropped-at-start",
    why: "the last record counts as torn even if it is complete",
    patches: [
      {
        file: `${FOLDER}/memory-store.ts`,
        find: "for (const change of changes) this.#apply(change);",
        replace: "for (const change of changes.slice(0, -1)) this.#apply(change);",
      },
    ],
  },
  {
    name: "not-synced-at-start",
    why: "a new process trusts what the previous one had written and not synced",
    patches: [
      {
        file: `${FOLDER}/memory-store.ts`,
        find: "await this.#disk.sync();\n      for (const change",
        replace: "for (const change",
      },
    ],
  },
];

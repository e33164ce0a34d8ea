import type { Mutant } from "./mutant.ts";

const FOLDER = "packages/store-sqlite/src";
const OVER_LOG = { storage: "log" } as const;

/** Bugs of the log of `@waybill/store-sqlite`. */
export const LOG_MUTANTS: readonly Mutant[] = [
  {
    name: "log-acknowledged-before-sync",
    why: "a commit to the log is reported as durable when it is only written",
    worlds: OVER_LOG,
    patches: [
      {
        file: `${FOLDER}/committer.ts`,
        find: "    await this.#sync(results.flat().length);",
        replace: "    void this.#sync(results.flat().length).catch(() => undefined);",
      },
    ],
  },
  {
    name: "log-never-synced",
    why: "nothing in the log is put on disk",
    worlds: OVER_LOG,
    patches: [
      {
        file: `${FOLDER}/committer.ts`,
        find: "    await this.#sync(results.flat().length);",
        replace: "",
      },
    ],
  },
  {
    name: "log-segment-without-name",
    why: "a segment is used before its name is on disk",
    worlds: OVER_LOG,
    patches: [
      {
        file: `${FOLDER}/log/log.ts`,
        find: "      await file.sync();\n      await this.#folder.sync();\n    } catch",
        replace: "      await file.sync();\n    } catch",
      },
    ],
  },
  {
    name: "log-checksum-ignored",
    why: "a torn frame is read as if it were whole",
    worlds: OVER_LOG,
    patches: [
      {
        file: `${FOLDER}/log/frame.ts`,
        find: "if (checksumOf(bytes.subarray(position, end + length)) !== checksum) return undefined;",
        replace: "",
      },
    ],
  },
  {
    name: "log-not-synced-at-start",
    why: "a new process trusts what the previous one had written and not synced",
    worlds: OVER_LOG,
    patches: [
      {
        file: `${FOLDER}/log/log.ts`,
        find: "    await file.sync();\n    await this.#folder.sync();\n    this.#current",
        replace: "    this.#current",
      },
    ],
  },
  {
    name: "log-goes-on-after-failed-sync",
    why: "commits follow one that is not on disk, though its sync has failed",
    worlds: OVER_LOG,
    patches: [
      {
        file: `${FOLDER}/log/log.ts`,
        find: "    this.#failure ??= error as Error;\n    return this.#failure;",
        replace: "    return error as Error;",
      },
    ],
  },
];

import { testsOf } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";

const synced = testsOf("src/synced.test.ts");

/** Faults in the SQLite store. */
export const STORE_SQLITE: readonly Mutant[] = [
  {
    name: "commits are not synced",
    file: "src/connect.ts",
    find: "PRAGMA synchronous = FULL",
    replace: "PRAGMA synchronous = OFF",
    seenBy: synced("nothing is acknowledged before it is on disk: > a commit"),
  },
  {
    name: "the log is synced only at checkpoints",
    file: "src/connect.ts",
    find: "PRAGMA synchronous = FULL",
    replace: "PRAGMA synchronous = NORMAL",
    seenBy: synced("nothing is acknowledged before it is on disk: > a burst"),
  },
  {
    name: "settings are not synced",
    file: "src/connect.ts",
    find: "PRAGMA synchronous = FULL",
    replace: "PRAGMA synchronous = NORMAL",
    seenBy: synced("nothing is acknowledged before it is on disk: > a setting"),
  },
  {
    name: "what a killed process wrote is read before it is synced",
    file: "src/database.ts",
    find: '    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");\n',
    replace: "",
    seenBy: synced(
      "nothing is acknowledged before it is on disk: > what a killed process has left, before it is shown to anybody",
    ),
  },
];

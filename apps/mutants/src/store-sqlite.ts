import { testsOf } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";

const synced = testsOf("src/synced.test.ts");
const powerLoss = testsOf("src/log/log-crash.test.ts");
const log = testsOf("src/log/log.test.ts");
const seal = testsOf("src/log/seal.test.ts");

const AT_ANY_CALL =
  "a power loss at any call, with any of the unsynced writes, loses nothing acknowledged";
const FAILED_SYNC =
  "after a failed sync nothing is written, and reopening puts on disk what can be read";

/** Faults in the SQLite store. */
export const STORE_SQLITE: readonly Mutant[] = [
  {
    name: "a commit is not synced",
    file: "src/log/file-folder.ts",
    find: "    fdatasyncSync(this.#file);\n",
    replace: "    void fdatasyncSync;\n",
    seenBy: synced("nothing is acknowledged before it is on disk: > a commit"),
  },
  {
    name: "commits are acknowledged before they are synced",
    file: "src/committer.ts",
    find: "await this.#sync(results.flat().length)",
    replace: "void this.#sync(results.flat().length)",
    seenBy: synced("nothing is acknowledged before it is on disk: > a burst"),
  },
  {
    name: "a setting is not synced",
    file: "src/log/file-folder.ts",
    find: "    fdatasyncSync(this.#file);\n",
    replace: "    void fdatasyncSync;\n",
    seenBy: synced("nothing is acknowledged before it is on disk: > a setting"),
  },
  {
    name: "what a killed process has left is shown before it is synced",
    file: "src/log/log.ts",
    find: "    await file.sync();\n    await this.#folder.sync();\n    this.#current",
    replace: "    this.#current",
    seenBy: synced(
      "nothing is acknowledged before it is on disk: > what a killed process has left, before it is shown to anybody",
    ),
  },
  {
    name: "a segment is used before its name is on disk",
    file: "src/log/log.ts",
    find: "      await file.sync();\n      await this.#folder.sync();\n    } catch",
    replace: "      await file.sync();\n    } catch",
    seenBy: powerLoss(AT_ANY_CALL),
  },
  {
    name: "the remains of a torn frame stay",
    file: "src/log/log.ts",
    find: "if (end > position) file.write",
    replace: "if (false) file.write",
    seenBy: powerLoss(AT_ANY_CALL),
  },
  {
    name: "the checksum of a frame is not looked at",
    file: "src/log/frame.ts",
    find: "checksumOf(bytes.subarray(position, end + length)) !== checksum",
    replace: "false",
    seenBy: powerLoss(AT_ANY_CALL),
  },
  {
    name: "what could be read after a failed sync is not written again",
    file: "src/log/log.ts",
    find: "if (hasTail) file.write",
    replace: "if (false) file.write",
    seenBy: powerLoss(FAILED_SYNC),
  },
  {
    name: "commits go on after a failed sync",
    file: "src/log/log.ts",
    find: "    this.#failure ??= error as Error;\n    return this.#failure;",
    replace: "    return error as Error;",
    seenBy: powerLoss(FAILED_SYNC),
  },
  {
    name: "damage is taken for a torn end",
    file: "src/log/log.ts",
    find: "if (damage !== undefined) throw",
    replace: "if (false) throw",
    seenBy: log("a log > a broken frame before intact ones is damage, and what holds is told"),
  },
  {
    name: "a frame may follow any other",
    file: "src/log/place.ts",
    find: "const isNext = frame.number === number + 1 && frame.previous === checksum;",
    replace: "const isNext = true;",
    seenBy: log("a log > frames in another order are damage"),
  },
  {
    name: "a log that ends before its index is taken for whole",
    file: "src/log/log.ts",
    find: "if (!isThere(folder, from))",
    replace: "if (false)",
    seenBy: log("a log > a log that ends before what was on disk once is damage"),
  },
  {
    name: "the index is not on disk before the log is used",
    file: "src/database.ts",
    find: '    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");\n',
    replace: "",
    seenBy: synced(
      "nothing is acknowledged before it is on disk: > the index and the names of all files are on disk before the first commit",
    ),
  },
  {
    name: "a sealed segment is not synced",
    file: "src/log/seal.ts",
    find: "    await target.sync();\n",
    replace: "",
    seenBy: seal("a power loss at any call while a segment is sealed loses no entry"),
  },
  {
    name: "the name of a sealed segment is not synced",
    file: "src/log/seal.ts",
    find: "  await folder.sync();\n",
    replace: "",
    seenBy: seal("a power loss at any call while a segment is sealed loses no entry"),
  },
  {
    name: "a broken segment is sealed",
    file: "src/log/seal.ts",
    find: "if (last === undefined || after === undefined || !isNext(after, last))",
    replace: "if (last === undefined)",
    seenBy: seal("a broken segment is not sealed"),
  },
];

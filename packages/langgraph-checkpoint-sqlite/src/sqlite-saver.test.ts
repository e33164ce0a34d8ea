/// <reference types="node" />
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SqliteSaver } from "./sqlite-saver.ts";

let folder = "";
let path = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-checkpoints-"));
  path = join(folder, "checkpoints.db");
});

afterEach(() => rmSync(folder, { recursive: true }));

const THREAD = { configurable: { thread_id: "thread", checkpoint_ns: "" } };

/** Writes a value after a checkpoint, as a step of a graph does. */
async function step(saver: SqliteSaver, config: typeof THREAD, before: Checkpoint, fact: string) {
  const version = saver.getNextVersion(before.channel_versions["fact"] as number | undefined);
  const checkpoint: Checkpoint = {
    ...before,
    id: uuid6(1),
    channel_values: { fact },
    channel_versions: { fact: version },
  };
  const metadata = { source: "loop", step: 1, parents: {} } as const;
  const next = await saver.put(config, checkpoint, metadata, { fact: version });
  return { next: next as typeof THREAD, checkpoint };
}

test.skipIf(process.platform === "win32")(
  "a file is readable by its owner only, whatever the umask (POSIX)",
  async () => {
    const before = process.umask(0);
    try {
      const saver = new SqliteSaver(path);
      await step(saver, THREAD, emptyCheckpoint(), "root");
      const names = readdirSync(folder);
      expect(names).toContain("checkpoints.db-wal");
      for (const name of names) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
      saver.close();
    } finally {
      process.umask(before);
    }
  },
);

test("two branches of a thread keep their own writes", async () => {
  const saver = new SqliteSaver(path);
  const root = await step(saver, THREAD, emptyCheckpoint(), "root");
  const one = await step(saver, root.next, root.checkpoint, "one");
  const other = await step(saver, root.next, root.checkpoint, "other");
  const facts = await Promise.all(
    [root, one, other].map(async ({ next }) => {
      return (await saver.getTuple(next))!.checkpoint.channel_values["fact"];
    }),
  );
  expect(facts).toEqual(["root", "one", "other"]);
  saver.close();
});

test("stored checkpoints are visible to the next process that opens the file, and to concurrent ones", async () => {
  const [one, other] = [new SqliteSaver(path), new SqliteSaver(path)];
  await step(one, THREAD, emptyCheckpoint(), "kept");
  one.close();
  for (const saver of [other, new SqliteSaver(path)]) {
    expect((await saver.getTuple(THREAD))?.checkpoint.channel_values).toEqual({ fact: "kept" });
    saver.close();
  }
});

test.each([
  [
    "of another application",
    "PRAGMA application_id = 7; CREATE TABLE t (x)",
    /another application/,
  ],
  [
    "of a newer release",
    "PRAGMA application_id = 0x77626c67; PRAGMA user_version = 99; CREATE TABLE t (x)",
    /newer release/,
  ],
])("a file %s is refused, and unchanged", (_, sql, reason) => {
  const file = new DatabaseSync(path);
  file.exec(sql);
  expect(() => new SqliteSaver(path)).toThrow(reason);
  expect(file.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "t" }]);
  file.close();
});

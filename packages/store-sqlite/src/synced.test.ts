/// <reference types="node" />
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { locate, remove } from "./store-fixture.ts";

const PROGRAM = fileURLToPath(new URL("commit-process-fixture.ts", import.meta.url));
const CALLS = "write,pwrite64,fsync,fdatasync";
const hasStrace = spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0;

let path: string;
beforeEach(async () => {
  path = await locate();
});
afterEach(() => remove(path));

interface Call {
  readonly name: string;
  /** The file that it is about, by its ending: of the database, or of its log. */
  readonly of: "database" | "log" | "other";
  readonly line: string;
}

/** What the process did, in order: a call that two lines tell of is done at the second one. */
function callsIn(trace: string): Call[] {
  const begun = new Map<string, string>();
  return trace.split("\n").flatMap((whole) => {
    const [, thread, told] = /^(\d+) +(.*)$/.exec(whole) ?? [];
    if (thread === undefined || told === undefined) return [];
    if (told.endsWith("<unfinished ...>")) {
      begun.set(thread, told);
      return [];
    }
    const line = told.startsWith("<...") ? `${begun.get(thread) ?? ""}${told}` : told;
    const name = /^\w+/.exec(line)?.[0] ?? "";
    const of = line.includes(`${path}-wal>`)
      ? "log"
      : line.includes(`${path}>`)
        ? "database"
        : "other";
    return [{ name, of, line }];
  });
}

function run(...steps: string[]): Call[] {
  const trace = join(dirname(path), "trace");
  const strace = ["-f", "-y", "-qq", "-s", "64", "-e", `trace=${CALLS}`, "-o", trace];
  spawnSync("strace", [...strace, process.execPath, PROGRAM, path, ...steps], {
    env: { ...process.env, NODE_V8_COVERAGE: "" },
  });
  return callsIn(readFileSync(trace, "utf8"));
}

const SYNCS: ReadonlySet<string> = new Set(["fsync", "fdatasync"]);

/** The steps, each with whether the log had been written to and not been synced when it was acknowledged. */
function unsyncedAt(calls: readonly Call[]): [step: string, isUnsynced: boolean][] {
  let isUnsynced = false;
  const steps: [string, boolean][] = [];
  for (const { name, of, line } of calls) {
    if (of === "log") isUnsynced = !SYNCS.has(name);
    const step = /"acknowledged (\w+)/.exec(line)?.[1];
    if (step !== undefined) steps.push([step, isUnsynced]);
  }
  return steps;
}

describe.runIf(hasStrace)("nothing is acknowledged before it is on disk:", () => {
  test.each(["commit", "burst", "setting"])("a %s", (step) => {
    const calls = run(step, step);
    expect(calls.some(({ name, of }) => name === "pwrite64" && of === "log")).toBe(true);
    expect(unsyncedAt(calls)).toEqual([
      ["open", false],
      [step, false],
      [step, false],
    ]);
  });

  test("what a killed process has left, before it is shown to anybody", () => {
    expect(unsyncedAt(run("commit", "kill"))).toHaveLength(2);
    const calls = run();
    const open = calls.findIndex(({ line }) => line.includes("acknowledged open"));
    const before = calls.slice(0, open);
    expect(before.some(({ name, of }) => of === "log" && SYNCS.has(name))).toBe(true);
    const written = before.findLastIndex(
      ({ name, of }) => of === "database" && name === "pwrite64",
    );
    const synced = before.findLastIndex(({ name, of }) => of === "database" && SYNCS.has(name));
    expect(written).toBeGreaterThan(-1);
    expect(synced).toBeGreaterThan(written);
  });
});

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
  /** Whether it is about a segment of the log. */
  readonly isOfLog: boolean;
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
    return [{ name, isOfLog: line.includes(`<${path}-log/`), line }];
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

/** The steps, each with whether the log had been written to and not synced when it was acknowledged. */
function unsyncedAt(calls: readonly Call[]): [step: string, isUnsynced: boolean][] {
  let isUnsynced = false;
  const steps: [string, boolean][] = [];
  for (const { name, isOfLog, line } of calls) {
    if (isOfLog) isUnsynced = !SYNCS.has(name);
    const step = /"acknowledged (\w+)/.exec(line)?.[1];
    if (step !== undefined) steps.push([step, isUnsynced]);
  }
  return steps;
}

describe.runIf(hasStrace)("nothing is acknowledged before it is on disk:", () => {
  test.each(["commit", "burst", "setting"])("a %s", (step) => {
    const calls = run(step, step);
    expect(calls.some(({ name, isOfLog }) => name === "pwrite64" && isOfLog)).toBe(true);
    expect(unsyncedAt(calls)).toEqual([
      ["open", false],
      [step, false],
      [step, false],
    ]);
  });

  test("the index and the names of all files are on disk before the first commit", () => {
    const calls = run("commit");
    const open = calls.findIndex(({ line }) => line.includes("acknowledged open"));
    const ofIndex = calls.slice(0, open).filter(({ line }) => line.includes(`<${path}>`));
    expect(ofIndex.findLastIndex(({ name }) => name === "pwrite64")).toBeGreaterThan(-1);
    expect(SYNCS.has(ofIndex.at(-1)!.name)).toBe(true);
    const commit = calls.findIndex(({ line }) => line.includes("acknowledged commit"));
    for (const folder of [dirname(path), `${path}-log`]) {
      const isSynced = ({ name, line }: Call) => SYNCS.has(name) && line.includes(`<${folder}>`);
      expect(calls.slice(open, commit).some(isSynced)).toBe(true);
    }
  });

  test("what a killed process has left, before it is shown to anybody", () => {
    expect(unsyncedAt(run("commit", "kill"))).toHaveLength(2);
    const calls = run();
    const open = calls.findIndex(({ line }) => line.includes("acknowledged open"));
    const before = calls.slice(0, open).filter(({ isOfLog }) => isOfLog);
    expect(before.findLastIndex(({ name }) => name === "pwrite64")).toBeGreaterThan(-1);
    expect(SYNCS.has(before.at(-1)!.name)).toBe(true);
  });
});

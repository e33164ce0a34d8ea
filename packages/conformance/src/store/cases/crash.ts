/// <reference types="node" />
import { ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "@waybill/hub";
import { checkAfterCrash, runWriter } from "../crash.ts";
import type { StoreCase, StoreProcess } from "../subject.ts";

const ROUNDS = 6;
const KILL_AFTER_MAX = 400;
/** Enough for several groups in one sync and for several syncs, and few enough to crash at each call. */
const COMMITS = 8;
const CALLS_AT_LEAST = 4;

/** Cases in which a writing process is killed. */
export function crashCases(subject: StoreProcess): StoreCase[] {
  const { systemCalls } = subject;
  const atEachCall = "a crash at any call that writes loses nothing acknowledged";
  return [
    {
      name: "a process that is killed while it writes loses nothing acknowledged and leaves no partial commit",
      timeoutMs: 60_000,
      run: () => at(subject, (location) => killAtRandom(subject, location)),
    },
    ...(systemCalls === undefined
      ? []
      : [
          {
            name: atEachCall,
            skip: hasStrace() ? undefined : "no strace that may trace on this machine",
            timeoutMs: 300_000,
            run: () => killAtEachCall(subject, systemCalls),
          },
        ]),
  ];
}

async function at<Result>(
  subject: StoreProcess,
  use: (location: string) => Promise<Result>,
): Promise<Result> {
  const location = await subject.locate();
  try {
    return await use(location);
  } finally {
    await subject.remove(location);
  }
}

/** Always the same location: the next process starts with what a crash has left. */
async function killAtRandom({ module }: StoreProcess, location: string): Promise<void> {
  const acknowledged = new Map<string, number>();
  for (let round = 1; round <= ROUNDS; round++) {
    const killAfter = randomInt(1, KILL_AFTER_MAX);
    const run = await runWriter({ module, location, count: 100_000, inFlight: 8, killAfter });
    ok(run.wasKilled, "the writing process ended before it was killed");
    for (const each of run.acknowledged) acknowledged.set(...each);
    await inspect(module, location, acknowledged);
  }
}

async function killAtEachCall(subject: StoreProcess, calls: readonly string[]): Promise<void> {
  // There are many starts, and most of each would be compiling the same sources.
  const compileCache = await mkdtemp(join(tmpdir(), "waybill-compiled-"));
  const names = calls.join(",");
  const write = (command?: readonly string[]): Promise<boolean> =>
    at(subject, async (location) => {
      const work = { module: subject.module, count: COMMITS, inFlight: 2, compileCache };
      const { acknowledged, wasKilled } = await runWriter({ ...work, location, command });
      await inspect(subject.module, location, acknowledged);
      return wasKilled;
    });
  const crashAt = (call: number): Promise<boolean> => {
    const inject = ["-e", `trace=${names}`, "-e", `inject=${names}:signal=SIGKILL:when=${call}`];
    return write(["strace", "-f", "-qq", "-o", "/dev/null", ...inject]);
  };
  try {
    await write();
    let call = 1;
    while ((await Promise.all([crashAt(call), crashAt(call + 1)])).every(Boolean)) call += 2;
    ok(
      call > CALLS_AT_LEAST,
      `only ${call} calls were seen: these are not the calls by which it writes`,
    );
  } finally {
    await rm(compileCache, { recursive: true, force: true });
  }
}

async function inspect(
  module: URL,
  location: string,
  acknowledged: ReadonlyMap<string, number>,
): Promise<void> {
  const { openStore } = (await import(module.href)) as {
    openStore(location: string): Promise<Store>;
  };
  const store = await openStore(location);
  try {
    await checkAfterCrash(store, acknowledged);
  } finally {
    await store.close();
  }
}

function hasStrace(): boolean {
  return spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0;
}

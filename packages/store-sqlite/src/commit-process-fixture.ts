/// <reference types="node" />
// Commits in a process of its own, and writes down each step once it is acknowledged. What system calls
// it makes in between is for a test to see.
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Commit } from "@waybill/hub/store";
import { digestOf } from "@waybill/protocol";
import { openSqliteStore } from "./sqlite-store.ts";
import { commitOne } from "@waybill/hub/store";

const [, , path, ...steps] = process.argv;
/** Longer than the store lets its thread write after a burst. */
const IDLE_MS = 100;
/** More than is ever written without the thread. */
const BURST = 64;

function acknowledged(step: string): void {
  writeSync(1, `acknowledged ${step}\n`);
}

let number = Date.now() * 1_000;

function nextCommit(): Commit {
  const content = `${number++}`;
  const entry = { at: 0, handoffId: null, type: "decision", content } as const;
  return { handoff: null, entries: [{ ...entry, digest: digestOf(content), replayKey: null }] };
}

const store = await openSqliteStore(path!);
acknowledged("open");
for (const step of steps) {
  if (step === "commit") {
    await sleep(IDLE_MS);
    await commitOne(store, nextCommit());
  } else if (step === "burst") {
    await Promise.all(Array.from({ length: BURST }, () => commitOne(store, nextCommit())));
  } else if (step === "setting") {
    await sleep(IDLE_MS);
    await store.saveSetting("name", "value");
  } else process.kill(process.pid, "SIGKILL");
  acknowledged(step);
}
await store.close();

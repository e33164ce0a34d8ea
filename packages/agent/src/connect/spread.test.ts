/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Agent } from "../agent.ts";
import { Network } from "./served-fixture.ts";

const WORKER = fileURLToPath(new URL("worker-fixture.ts", import.meta.url));

let network: Network;
let folder: string;
const running: ChildProcess[] = [];

beforeEach(async () => {
  network = await Network.open();
  folder = mkdtempSync(join(tmpdir(), "waybill-spread-"));
});

afterEach(async () => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  await network.close();
  rmSync(folder, { recursive: true });
});

/** An attached worker in a process of its own; `taken` settles with its next piece of work. */
async function startWorker(
  id: string,
  tookMs = 5,
): Promise<{ readonly child: ChildProcess; readonly taken: Promise<void> }> {
  const words = [WORKER, network.url, id, join(folder, `${id}.key`), `${tookMs}`];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  const lines = createInterface({ input: child.stdout });
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => line === text && resolve());
      lines.once("close", () => reject(new Error(`${id} has ended.`)));
    });
  const taken = said("taken");
  taken.catch(() => undefined);
  await said("ready");
  return { child, taken };
}

/** Hands off that many, a few at a time, and counts which worker did them. */
async function countOf(owner: Agent, count: number, atOnce: number): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let left = count; left > 0; left -= atOnce) {
    const handles = Array.from({ length: atOnce }, () => owner.handoff({ capability: "work" }));
    for (const { by } of await Promise.all(handles.map(({ result }) => result))) {
      counts.set(by, (counts.get(by) ?? 0) + 1);
    }
  }
  return counts;
}

test("three equal workers in processes of their own get between 25 % and 45 % each of 300 handoffs", async () => {
  for (const id of ["a", "b", "c"]) await startWorker(id, 50);
  const counts = await countOf(await network.agent("owner"), 300, 10);
  for (const id of ["a", "b", "c"]) {
    expect(counts.get(id) ?? 0, `${id} of ${JSON.stringify([...counts])}`).toBeGreaterThan(75);
    expect(counts.get(id) ?? 0, `${id} of ${JSON.stringify([...counts])}`).toBeLessThan(135);
  }
}, 120_000);

test("a worker that is ten times slower gets about a tenth of 80 handoffs", async () => {
  await startWorker("slow", 400);
  await startWorker("fast", 40);
  const owner = await network.agent("owner");
  // The first handoffs measure how long each worker takes.
  await countOf(owner, 10, 10);
  const counts = await countOf(owner, 80, 1);
  // A busy machine slows down the fast one more. The narrow bounds are tested by routing.test.ts in
  // virtual time.
  expect(counts.get("slow") ?? 0, JSON.stringify([...counts])).toBeGreaterThan(0);
  expect(counts.get("slow") ?? 0, JSON.stringify([...counts])).toBeLessThan(28);
}, 120_000);

test("a worker that was killed with work in progress has its share again within a minute of its return", async () => {
  const killed = await startWorker("a", 60_000);
  const owner = await network.agent("owner");
  const held = Array.from({ length: 8 }, () => owner.handoff({ capability: "work" }));
  await killed.taken;
  await Promise.all(held.map(({ accepted }) => accepted));
  await startWorker("b");
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");
  // The work it held goes to another worker when its leases expire.
  const ends = await Promise.all(held.map(({ result }) => result));
  expect(new Set(ends.map(({ by }) => by))).toEqual(new Set(["b"]));
  await startWorker("a");
  const since = performance.now();
  let counts: Map<string, number>;
  // The first handoffs after its return show on a busy machine that it is still slow.
  do counts = await countOf(owner, 60, 5);
  while ((counts.get("a") ?? 0) <= 10 && performance.now() - since < 60_000);
  expect(performance.now() - since).toBeLessThan(60_000);
  expect(counts.get("a") ?? 0, JSON.stringify([...counts])).toBeGreaterThan(10);
}, 120_000);

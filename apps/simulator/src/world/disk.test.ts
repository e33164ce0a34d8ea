import { expect, test } from "vitest";
import { SimulatedDisk } from "./disk.ts";
import type { DiskFault } from "./disk.ts";
import { Process } from "./process.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";

function diskWith(faults: DiskFault[], seed = 1) {
  const scheduler = new Scheduler(0);
  const random = new Random(seed);
  const process = new Process(scheduler, { offsetMs: 0 }, random);
  const disk = new SimulatedDisk({
    random,
    faultOf: () => faults.shift() ?? "none",
    latencyMs: () => 1,
    crash: (owner) => owner.crash(),
  });
  return { disk, scheduler, process, file: disk.for(process) };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array) => new TextDecoder().decode(content);

test("synced bytes survive a power failure, and of unsynced ones at most a prefix", async () => {
  const left = new Set<string>();
  for (let seed = 1; seed <= 40; seed++) {
    const { disk, scheduler, file } = diskWith([], seed);
    void file.append(bytes("one"));
    await scheduler.runUntil(1);
    void file.sync();
    await scheduler.runUntil(2);
    void file.append(bytes("two"));
    await scheduler.runUntil(3);
    expect(text(disk.synced())).toBe("one");
    disk.losePower();
    const content = file.read();
    await scheduler.runUntil(4);
    left.add(text(await content));
  }
  expect([...left].toSorted()).toEqual(["one", "onet", "onetw", "onetwo"]);
});

test.each([
  ["crash_before", ""],
  ["crash_after", "one"],
] as const)("a process that crashes at a call (%s) receives nothing more", async (fault, kept) => {
  const { disk, scheduler, process, file } = diskWith(["none", fault]);
  let isSynced = false;
  void file.append(bytes("one"));
  await scheduler.runUntil(1);
  void file.sync().then(() => (isSynced = true));
  await scheduler.runUntil(10);
  expect(process.isAlive).toBe(false);
  expect(isSynced).toBe(false);
  expect(text(disk.synced())).toBe(kept);
});

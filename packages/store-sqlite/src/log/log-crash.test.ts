/// <reference types="node" />
import { hash } from "node:crypto";
import type { LedgerHead } from "@waybill/hub/store";
import { expect, test } from "vitest";
import { Log } from "./log.ts";
import { startAfter } from "./place.ts";
import type { Place } from "./place.ts";
import { segmentName } from "./segment.ts";
import { SimulatedDisk } from "./simulated-disk-fixture.ts";
import type { Image } from "./simulated-disk-fixture.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1e6);
const EMPTY: LedgerHead = { sequence: 0, hash: `sha256:${"0".repeat(64)}` };
/** Segments that hold a few frames, so that many are begun. */
const SIZES = { segmentBytes: () => 2_048 };

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The body of a frame: its number, and contents of a length that depends on it. */
function bodyOf(number: number): Buffer {
  const lengths = [40, 700, 1_300, 90, 2_600, 200];
  return Buffer.from(JSON.stringify([number, "x".repeat(lengths[number % lengths.length]!)]));
}

function headOf(number: number): LedgerHead {
  return { sequence: number, hash: `sha256:${hash("sha256", `${number}`)}` };
}

interface Opened {
  readonly log: Log;
  readonly numbers: number[];
}

async function open(disk: SimulatedDisk, from: Place = startAfter(EMPTY)): Promise<Opened> {
  const numbers: number[] = [];
  const log = await Log.open(
    disk,
    from,
    ({ body }) => numbers.push((JSON.parse(body.toString()) as [number])[0]),
    SIZES,
  );
  return { log, numbers };
}

/** Writes one frame, and notes it when it is on disk, as a store acknowledges it. */
async function commit(disk: SimulatedDisk, log: Log): Promise<Place> {
  const number = log.place.frame + 1;
  const place = await log.append(bodyOf(number), headOf(number));
  await log.sync();
  disk.note(number);
  return place;
}

function upTo(number: number): number[] {
  return Array.from({ length: number }, (_, index) => index + 1);
}

/** Whether there is anything behind the end of a log. */
function remains(disk: SimulatedDisk, { segment, position }: Place): boolean {
  const behind = disk
    .names()
    .filter((name) => name >= segmentName(segment))
    .flatMap((name) => {
      const file = disk.open(name);
      const from = name === segmentName(segment) ? position : 0;
      return [...file.read(from, file.size() - from)];
    });
  return behind.some((byte) => byte !== 0);
}

/** The disk after each of the operations of a run, and what had been acknowledged by then. */
function* momentsOf(
  start: Image,
  operations: SimulatedDisk["operations"],
  acknowledgedBefore: number,
): Generator<{ disk: SimulatedDisk; acknowledged: number }> {
  const disk = new SimulatedDisk(start);
  let acknowledged = acknowledgedBefore;
  for (const operation of operations) {
    disk.perform(operation);
    if (operation.type === "note") acknowledged = operation.note;
    yield { disk, acknowledged };
  }
}

/** Opens what a power loss has left: everything acknowledged is there, and at most one frame more. */
async function checkImage(image: Image, acknowledged: number): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk(image);
  const { log, numbers } = await open(disk);
  expect(numbers).toEqual(upTo(numbers.length));
  expect(numbers.length).toBeGreaterThanOrEqual(acknowledged);
  expect(numbers.length).toBeLessThanOrEqual(acknowledged + 1);
  expect(remains(disk, log.place), "remains of a torn frame").toBe(false);
  // What was read once has been shown to somebody.
  disk.note(numbers.length);
  await commit(disk, log);
  await log.close();
  const again = await open(disk);
  expect(again.numbers).toEqual(upTo(numbers.length + 1));
  await again.log.close();
  return disk;
}

test(
  "a power loss at any call, with any of the unsynced writes, loses nothing acknowledged",
  { timeout: 60_000 },
  async ({ onTestFailed }) => {
    onTestFailed(() => console.error(`SEED=${SEED}`));
    const random = seeded(SEED);
    const run = new SimulatedDisk();
    const { log } = await open(run);
    for (let count = 0; count < 12; count++) await commit(run, log);
    await log.close();
    let images = 0;
    for (const { disk, acknowledged } of momentsOf(new Map(), run.operations, 0)) {
      for (const image of disk.images(random)) {
        images++;
        const recovered = await checkImage(image, acknowledged);
        // And power is lost again while it recovers: a few of these, because there are very many.
        if (random() > 0.02) continue;
        for (const moment of momentsOf(image, recovered.operations, acknowledged)) {
          for (const second of moment.disk.images(random)) {
            images++;
            await checkImage(second, moment.acknowledged);
          }
        }
      }
    }

    expect(images).toBeGreaterThan(500);
  },
);

test("after a failed sync nothing is written, and reopening puts on disk what can be read", async ({
  onTestFailed,
}) => {
  onTestFailed(() => console.error(`SEED=${SEED}`));
  const random = seeded(SEED);
  // Count the syncs of an undisturbed run, then let each of them fail.
  for (let failSyncAt = 1; failSyncAt <= 24; failSyncAt++) {
    const disk = new SimulatedDisk();
    const { log } = await open(disk);
    disk.failSyncAt = failSyncAt;
    let acknowledged = 0;
    let failed = false;
    for (let count = 0; count < 10 && !failed; count++) {
      try {
        acknowledged = (await commit(disk, log)).frame;
      } catch {
        failed = true;
      }
    }
    disk.failSyncAt = Infinity;
    const isOfFrame = log.place.frame > acknowledged;
    if (isOfFrame) {
      const operations = disk.operations.length;
      await expect(commit(disk, log)).rejects.toThrow("EIO");
      await expect(log.sync()).rejects.toThrow("EIO");
      expect(disk.operations.length).toBe(operations);
    }
    await log.close();
    const again = await open(disk);
    expect(again.numbers.length).toBeGreaterThanOrEqual(acknowledged);
    disk.note(again.numbers.length);
    await commit(disk, again.log);
    await again.log.close();
    for (const image of disk.images(random)) {
      await checkImage(image, again.numbers.length + 1);
    }
  }
});

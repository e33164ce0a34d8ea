/// <reference types="node" />
import { hash } from "node:crypto";
import type { LedgerHead } from "@waybill/hub/store";
import { beforeEach, describe, expect, test } from "vitest";
import { decodeFrame, encodeFrame } from "./frame.ts";
import { DamagedLog, FullLog, Log } from "./log.ts";
import { startAfter } from "./place.ts";
import type { Place } from "./place.ts";
import { readTail } from "./recover.ts";
import { SimulatedDisk } from "./simulated-disk-fixture.ts";
import { verifyLog } from "./verify.ts";

const EMPTY: LedgerHead = { sequence: 0, hash: `sha256:${"0".repeat(64)}` };
const SIZES = { segmentBytes: () => 4_096 };
const FRAMES = 12;

function headOf(number: number): LedgerHead {
  return { sequence: number, hash: `sha256:${hash("sha256", `${number}`)}` };
}

async function open(
  disk: SimulatedDisk,
  from: Place = startAfter(EMPTY),
): Promise<{ log: Log; bodies: string[] }> {
  const bodies: string[] = [];
  const log = await Log.open(disk, from, ({ body }) => bodies.push(body.toString()), SIZES);
  return { log, bodies };
}

function bodyOf(number: number): string {
  return `frame ${number} ${"x".repeat(600)}`;
}

/** A disk with frames over several segments, and the place after each of them. */
async function filled(): Promise<{ disk: SimulatedDisk; places: Place[] }> {
  const disk = new SimulatedDisk();
  const { log } = await open(disk);
  const places: Place[] = [log.place];
  for (let number = 1; number <= FRAMES; number++) {
    places.push(await log.append(Buffer.from(bodyOf(number)), headOf(number)));
    await log.sync();
  }
  await log.close();
  return { disk, places };
}

function change(disk: SimulatedDisk, segment: number, position: number): void {
  const file = disk.open(`${segment}`.padStart(8, "0") + ".log");
  const [byte] = file.read(position, 1);
  file.write(Buffer.from([byte! ^ 0x20]), position);
  file.syncNow();
}

describe("a frame", () => {
  const start = { kind: "turn", number: 7, previous: 99, before: EMPTY, after: headOf(3) } as const;

  test("is read as it was written, at any position", () => {
    const { bytes, checksum } = encodeFrame(start, Buffer.from("body"));
    const placed = Buffer.concat([Buffer.alloc(13), bytes, Buffer.alloc(9)]);
    const frame = decodeFrame(placed, 13)!;
    expect(frame).toMatchObject({ ...start, length: 4, checksum, position: 13 });
    expect(frame.body.toString()).toBe("body");
  });

  test("is not read if any of its bits has changed, or any byte is missing", () => {
    const { bytes } = encodeFrame(start, Buffer.from("body"));
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeFrame(changed, 0), `bit ${bit}`).toBeUndefined();
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(decodeFrame(bytes.subarray(0, length), 0)).toBeUndefined();
    }
  });
});

describe("a log", () => {
  let disk: SimulatedDisk;
  let places: Place[];
  beforeEach(async () => {
    ({ disk, places } = await filled());
  });

  test("is read from any place in it", async () => {
    expect(places.at(-1)!.segment).toBeGreaterThan(2);
    for (const [number, place] of places.entries()) {
      const { log, bodies } = await open(disk, place);
      expect(bodies).toEqual(places.slice(number + 1).map(({ frame }) => bodyOf(frame)));
      expect(log.place).toEqual(places.at(-1));
      await log.close();
    }
  });

  test("is read from one place to another", () => {
    for (const [from, place] of places.entries()) {
      for (const until of places.slice(from)) {
        let count = 0;
        expect(readTail(disk, place, () => count++, until)).toEqual(until);
        expect(count).toBe(until.frame - from);
      }
    }
  });

  test("a broken frame before intact ones is damage, and what holds is told", async () => {
    for (let number = 1; number < FRAMES; number++) {
      const { disk: copy } = await filled();
      change(copy, places[number]!.segment, places[number]!.last + 300);
      const opening = open(copy);
      await expect(opening).rejects.toThrow(DamagedLog);
      await expect(opening).rejects.toMatchObject({
        damage: { holdsTo: number - 1, holdsFrom: number + 1, last: FRAMES },
      });
      expect(() => verifyLog(copy, places[0]!, places.at(-1)!)).toThrow(
        `entries up to ${number - 1} hold, and so do entries from ${number + 1} to ${FRAMES}`,
      );
    }
  });

  test("a segment that is missing in the middle is damage", async () => {
    const { segment } = places.at(-1)!;
    disk.remove(`0000000${segment - 1}.log`);
    await expect(open(disk)).rejects.toThrow(DamagedLog);
    expect(() => verifyLog(disk, places[0]!, places.at(-1)!)).toThrow(DamagedLog);
  });

  test("frames in another order are damage", async () => {
    const [first, second] = [places[2]!, places[3]!];
    expect(first.segment).toBe(second.segment);
    const file = disk.open("00000001.log");
    const one = file.read(first.last, first.position - first.last);
    const two = file.read(second.last, second.position - second.last);
    file.write(Buffer.concat([two, one]), first.last);
    await expect(open(disk)).rejects.toThrow(DamagedLog);
  });

  test("a log that ends before what was on disk once is damage", async () => {
    const last = places.at(-1)!;
    change(disk, last.segment, last.last + 300);
    await expect(open(disk, last)).rejects.toThrow(/which was on disk, is missing or broken/);
    expect(() => verifyLog(disk, places[0]!, last)).toThrow(/is missing/);
    // Without that knowledge, it is a commit that a crash has torn.
    expect((await open(disk)).bodies).toHaveLength(FRAMES - 1);
  });

  test("a frame that does not fit is refused, and smaller ones are written", async () => {
    const bytesMax = disk.names().length * 4_096 + 8_192;
    const log = await Log.open(disk, places.at(-1)!, () => undefined, { ...SIZES, bytesMax });
    const append = (length: number, number: number) =>
      log.append(Buffer.alloc(length, "y"), headOf(number));
    await expect(append(100_000, 13)).rejects.toThrow(FullLog);
    expect((await append(50, 13)).frame).toBe(FRAMES + 1);
    await log.sync();
    await log.close();
    expect((await open(disk)).bodies).toHaveLength(FRAMES + 1);
  });
});

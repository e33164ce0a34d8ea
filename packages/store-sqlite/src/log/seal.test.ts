/// <reference types="node" />
import { chainHash, EMPTY_LEDGER } from "@waybill/hub/store";
import type { LedgerEntry, LedgerHead } from "@waybill/hub/store";
import { digestOf } from "@waybill/protocol";
import { beforeEach, expect, test } from "vitest";
import { decodeFrame } from "./frame.ts";
import {
  entryLine,
  isEntryLine,
  linesOf,
  openedEntryLine,
  parseLine,
  settingLine,
} from "./line.ts";
import { DamagedLog, Log } from "./log.ts";
import { startAfter } from "./place.ts";
import type { Place } from "./place.ts";
import { bodyOf, framesOf, sealSegment } from "./seal.ts";
import type { SealedEntries } from "./seal.ts";
import { segmentName, segmentsIn } from "./segment.ts";
import { SimulatedDisk } from "./simulated-disk-fixture.ts";
import { verifyLog } from "./verify.ts";

const SIZES = { segmentBytes: () => 8_192 };
const START = startAfter(EMPTY_LEDGER);

let disk: SimulatedDisk;
let entries: LedgerEntry[];
let end: Place;

/** Three segments of frames, of which some have no entry. */
beforeEach(async () => {
  disk = new SimulatedDisk();
  entries = [];
  const log = await Log.open(disk, START, () => undefined, SIZES);
  let head: LedgerHead = EMPTY_LEDGER;
  while (log.place.segment < 3) {
    const lines = [settingLine("name", "value ".repeat(50))];
    for (let count = log.place.frame % 4; count > 0; count--) {
      const content = `entry ${head.sequence + 1} "with quotes" ${"and a long text".repeat(9)}`;
      const digest = digestOf(content);
      const entry = { at: 0, handoffId: null, type: "decision", content, digest } as const;
      const placed = { ...entry, replayKey: null, sequence: head.sequence + 1 };
      const linked = { ...placed, hash: chainHash(head.hash, placed) };
      entries.push(linked);
      lines.push(entryLine(linked));
      head = linked;
    }
    await log.append(Buffer.from(lines.join("")), { sequence: head.sequence, hash: head.hash });
    await log.sync();
  }
  end = log.place;
  await log.close();
});

/** Every entry that can be read from a folder. */
function entriesIn(folder: SimulatedDisk): LedgerEntry[] {
  return segmentsIn(folder.names()).flatMap(({ name }) =>
    Array.from(framesOf(folder.open(name))).flatMap((frame) =>
      Array.from(linesOf(bodyOf(frame)))
        .filter(({ text }) => isEntryLine(text))
        .map(({ text }) => (parseLine(text) as { entry: LedgerEntry }).entry),
    ),
  );
}

/** As the index does it, which has the blocks before the segment is removed. */
async function seal(folder: SimulatedDisk, number: number): Promise<SealedEntries> {
  const sealed = await sealSegment(folder, number);
  folder.remove(segmentName(number));
  return sealed;
}

function sizeOf(name: string): number {
  return disk.open(name).size();
}

test("a sealed segment has every entry, in a fraction of the room, and is verified with the others", async () => {
  const sizes = [1, 2].map((number) => sizeOf(segmentName(number)));
  const first = await seal(disk, 1);
  verifyLog(disk, START, end);
  const second = await seal(disk, 2);
  expect(first.first).toBe(1);
  expect(second.first).toBe(first.last + 1);
  expect(disk.names()).not.toContain(segmentName(1));
  expect(entriesIn(disk)).toEqual(entries);
  verifyLog(disk, START, end);
  for (const number of [1, 2]) {
    expect(sizeOf(segmentName(number, true))).toBeLessThan(sizes[number - 1]! / 4);
  }
  // The end of the log is opened as before.
  const log = await Log.open(disk, end, () => undefined, SIZES);
  expect(log.place).toEqual(end);
  await log.close();
});

test("each entry of a sealed segment is in the block that is named for it", async () => {
  const { blocks, first, last } = await seal(disk, 1);
  const file = disk.open(segmentName(1, true));
  const read = blocks.flatMap(({ sequence, position, length }) => {
    const frame = decodeFrame(file.read(position, length), 0)!;
    const lines = Array.from(linesOf(bodyOf(frame)), ({ text }) => parseLine(text));
    return lines.map((line, index) => ({ at: sequence + index, line }));
  });
  expect(read).toEqual(
    entries.slice(0, last).map((entry) => ({ at: entry.sequence, line: { type: "entry", entry } })),
  );
  expect([read[0]!.at, read.at(-1)!.at]).toEqual([first, last]);
});

test("others have their turn between the frames of a segment that is sealed", async () => {
  const frames = Array.from(framesOf(disk.open(segmentName(1)))).length;
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await sealSegment(disk, 1);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(frames - 1);
});

test("damage of a sealed segment is found wherever it is", async () => {
  await seal(disk, 1);
  const file = disk.open(segmentName(1, true));
  for (let position = 0; position < file.size(); position += 7) {
    const before = file.read(position, 1);
    file.write(Buffer.from([before[0]! ^ 1]), position);
    expect(() => verifyLog(disk, START, end), `byte ${position}`).toThrow(DamagedLog);
    file.write(before, position);
  }
  verifyLog(disk, START, end);
});

test("a broken segment is not sealed", async () => {
  const file = disk.open(segmentName(1));
  const frames = Array.from(framesOf(file));
  for (const { position } of frames) {
    const before = file.read(position + 200, 1);
    file.write(Buffer.from([before[0]! ^ 1]), position + 200);
    await expect(seal(disk, 1)).rejects.toThrow(/is broken/);
    expect(disk.names()).toContain(segmentName(1));
    expect(disk.names()).not.toContain(segmentName(1, true));
    file.write(before, position + 200);
  }
  await seal(disk, 1);
});

test("envelopes come back as they were signed", async () => {
  const strings = [
    "a.b.c",
    "a.e30.c",
    "a.e31.c",
    "..",
    "a.b",
    "a.b.c.d",
    "a.ey-_.c",
    "a.aGnDpGwK.c",
  ];
  for (const content of strings) {
    const line = openedEntryLine({ ...entries[0]!, content }).trimEnd();
    expect(parseLine(line)).toEqual({ type: "entry", entry: { ...entries[0]!, content } });
  }
  const opened = openedEntryLine({ ...entries[0]!, content: "a.eyJ4IjoxfQ.c" });
  expect(opened).toContain('{\\"x\\":1}');
});

test("a power loss at any call while a segment is sealed loses no entry", async () => {
  const before = new SimulatedDisk(
    new Map(disk.names().map((name) => [name, disk.open(name).read(0, sizeOf(name))])),
  );
  const start = before.operations.length;
  const replay = new SimulatedDisk(
    new Map(disk.names().map((name) => [name, disk.open(name).read(0, sizeOf(name))])),
  );
  await seal(before, 1);
  let images = 0;
  for (const operation of before.operations.slice(start)) {
    replay.perform(operation);
    for (const image of replay.images(Math.random)) {
      images++;
      const left = new SimulatedDisk(image);
      expect(entriesIn(left)).toEqual(entries);
      verifyLog(left, START, end);
    }
  }
  expect(images).toBeGreaterThan(20);
});

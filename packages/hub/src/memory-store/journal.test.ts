/// <reference types="node" />
import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import { newEntry } from "../ledger/ledger-fixture.ts";
import { verifyLedger } from "../ledger/verify.ts";
import { memoryStore } from "../memory-store.ts";
import type { StoredHandoff } from "../store.ts";
import { changesFrame, cutFrame, readJournal } from "./journal.ts";
import type { Change, Disk } from "./journal.ts";
import { commitOne } from "../commit-each.ts";

const setting = (value: string): Change => ({ type: "setting", name: "key", value });
const valuesOf = (bytes: Uint8Array) =>
  readJournal(bytes).changes.map((change) => change.type === "setting" && change.value);
const three = ["a", "b", "c"].map((value) => changesFrame([setting(value)]));

function handoff(version: number): StoredHandoff {
  return {
    id: "handoff",
    version,
    record: `${version}`,
    state: "open",
    delegator: "editor",
    correlationId: "job",
    parentId: null,
    groupId: null,
    wakeAt: version,
    waitsFor: null,
    waitsAt: 0,
    session: null,
    sessionAt: 0,
    inboxes: [],
    isDeadLetter: false,
  };
}

/** Crashes at one of its calls; of unsynced data, a prefix of any length survives. */
function mortalDisk(
  bytes: Uint8Array,
  diesAt: number,
  survives: number,
): Disk & { left(): Uint8Array } {
  let written = Buffer.from(bytes);
  let synced = written.length;
  let calls = 0;
  const isDead = () => ++calls >= diesAt;
  const never = () => new Promise<never>(() => {});
  return {
    append(added) {
      if (isDead()) {
        const part = Math.floor(added.length * survives);
        written = Buffer.concat([written, added.subarray(0, part)]);
        synced = written.length;
        return never();
      }
      written = Buffer.concat([written, added]);
      return Promise.resolve();
    },
    sync() {
      if (isDead()) {
        synced += Math.floor((written.length - synced) * survives);
        return never();
      }
      synced = written.length;
      return Promise.resolve();
    },
    read: () => Promise.resolve(written),
    left: () => written.subarray(0, synced),
  };
}

describe("journal", () => {
  test("reads back what was written", () => {
    expect(valuesOf(Buffer.concat(three))).toEqual(["a", "b", "c"]);
    expect(readJournal(new Uint8Array()).changes).toEqual([]);
  });

  test("a torn last record is truncated, wherever it was torn, and later records are read", () => {
    const whole = Buffer.concat(three.slice(0, 2));
    for (let length = 1; length < three[2]!.length; length++) {
      const torn = Buffer.concat([whole, three[2]!.subarray(0, length)]);
      expect(readJournal(torn).tornAt).toBe(whole.length);
      expect(valuesOf(torn)).toEqual(["a", "b"]);
      const next = changesFrame([setting("d")]);
      const mended = Buffer.concat([torn, cutFrame(whole.length), next]);
      expect(valuesOf(mended)).toEqual(["a", "b", "d"]);
      expect(readJournal(mended).tornAt).toBeUndefined();
      const tornAgain = Buffer.concat([
        torn,
        cutFrame(whole.length).subarray(0, Math.min(length, 30)),
      ]);
      expect(readJournal(tornAgain).tornAt).toBe(whole.length);
      expect(valuesOf(Buffer.concat([tornAgain, cutFrame(whole.length), next]))).toEqual([
        "a",
        "b",
        "d",
      ]);
    }
  });

  test("a changed bit in a record before others is an error, not a loss", () => {
    const bytes = Buffer.concat(three);
    for (let at = 0; at < three[0]!.length + three[1]!.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      expect(() => readJournal(changed), `byte ${at}`).toThrow(/journal is damaged/);
    }
  });

  test("a record about a truncation is valid only directly after it", () => {
    const misplaced = Buffer.concat([three[0]!, cutFrame(0), three[1]!]);
    expect(() => readJournal(misplaced)).toThrow(/journal is damaged/);
  });

  test("a store with a damaged journal reports that at every call", async () => {
    const bytes = Buffer.concat(three);
    bytes[5]! ^= 1;
    const store = memoryStore({ disk: mortalDisk(bytes, Infinity, 0) });
    await expect(store.setting("key")).rejects.toThrow(/journal is damaged/);
    await expect(commitOne(store, { handoff: handoff(1), entries: [] })).rejects.toThrow(
      /journal is damaged/,
    );
    await store.close();
  });

  test("a store whose disk fails reports that, and does not continue", async () => {
    const disk = mortalDisk(new Uint8Array(), Infinity, 0);
    let isFull = false;
    const full = () => Promise.reject(new Error("no space left on device"));
    const store = memoryStore({
      disk: { ...disk, append: (bytes) => (isFull ? full() : disk.append(bytes)) },
    });
    await commitOne(store, { handoff: handoff(1), entries: [] });
    isFull = true;
    const failed = {
      status: 503,
      message: expect.stringContaining("no space left on device") as string,
    };
    await expect(commitOne(store, { handoff: handoff(2), entries: [] })).rejects.toMatchObject(
      failed,
    );
    isFull = false;
    await expect(commitOne(store, { handoff: handoff(2), entries: [] })).rejects.toMatchObject(
      failed,
    );
    await expect(store.handoff("handoff")).rejects.toMatchObject(failed);
  });
});

test("concurrent commits share one sync", async () => {
  const disk = mortalDisk(new Uint8Array(), Infinity, 0);
  let syncs = 0;
  const store = memoryStore({
    disk: {
      ...disk,
      sync() {
        syncs++;
        return disk.sync();
      },
    },
  });
  await store.ledgerHead();
  syncs = 0;
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      commitOne(store, { handoff: null, entries: [newEntry(`${index}`)] }),
    ),
  );
  expect(syncs).toBe(1);
});

test("a crash at any call of the disk loses nothing acknowledged and leaves no partial commit", async () => {
  for (const survives of [0, 0.5, 1]) {
    let left: Uint8Array = new Uint8Array();
    let acknowledged = 0;
    for (let diesAt = 1; diesAt <= 12; diesAt++) {
      const disk = mortalDisk(left, diesAt, survives);
      const store = memoryStore({ disk });
      const work = (async () => {
        acknowledged = Math.max(acknowledged, (await store.handoff("handoff"))?.version ?? 0);
        for (;;) {
          const version = acknowledged + 1;
          const entries = [newEntry(`${version} a`), newEntry(`${version} b`)];
          const { type } = await commitOne(store, { handoff: handoff(version), entries });
          expect(type).toBe("committed");
          acknowledged = version;
        }
      })();
      // A dead disk never answers: once every turn has passed, nothing moves any more.
      await Promise.race([work, settled()]);
      left = Buffer.from(disk.left());

      const reopened = memoryStore({ disk: mortalDisk(left, Infinity, 0) });
      const version = (await reopened.handoff("handoff"))?.version ?? 0;
      expect(version).toBeGreaterThanOrEqual(acknowledged);
      const entries = await reopened.ledger({ limit: 1000 });
      expect(entries.length).toBe(2 * version);
      expect((await verifyLedger(entries)).holds).toBe(true);
      expect(await reopened.nextWakeAt()).toBe(version === 0 ? null : version);
    }
    expect(acknowledged).toBeGreaterThan(10);
  }
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++)
    await new Promise<void>((resolve) => void setImmediate(resolve));
}

import { generateKey } from "@waybill/protocol";
import { afterEach, describe, expect, test } from "vitest";
import type { BlobUpload } from "@waybill/protocol/wire";
import type { HubOptions } from "../engine/options.ts";
import { memoryStore } from "../memory-store.ts";
import type { Store } from "../store.ts";
import type { BlobSpace } from "./blob-store.ts";
import { BLOB_ROWS } from "./rows.ts";
import { blobArtifact, BlobWorld, digestOfAll, pieces, someBytes } from "./blobs-fixture.ts";

const FILM = someBytes(300_000);

const open: BlobWorld[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.hub.close();
});

async function worldWith(options: Partial<HubOptions> = {}): Promise<BlobWorld> {
  const world = await BlobWorld.open(options);
  open.push(world);
  for (const agent of ["owner", ..."abcdefgh"]) await world.agent(agent);
  return world;
}

/** Uploads the first bytes of a blob of another size. */
function begin(world: BlobWorld, as: string, bytes: number, size = 500_000): Promise<BlobUpload> {
  const digest = digestOfAll(Buffer.from(as));
  return world.blobs.put({ digest, size, as }, pieces(FILM.subarray(0, bytes)));
}

async function received({ blobs }: BlobWorld, as: string): Promise<number> {
  return (await blobs.upload({ digest: digestOfAll(Buffer.from(as)), as })).received;
}

async function filesBecome(world: BlobWorld, count: number): Promise<void> {
  while ((await world.files()).length !== count) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a stalled upload is removed soon, not counting the time that the hub was down", async () => {
  const world = await worldWith({ limits: { blobIdleMs: 60_000 } });
  await begin(world, "owner", 10);
  world.clock.advance(59_999);
  await begin(world, "a", 10);
  world.clock.advance(1);
  await filesBecome(world, 1);
  await world.hub.close();
  world.clock.advance(600_000);
  await world.start();
  world.clock.advance(59_999);
  expect(await world.files()).toHaveLength(1);
  world.clock.advance(1);
  await filesBecome(world, 0);
});

test("announced bytes that do not arrive block nobody's uploads", async () => {
  const world = await worldWith({ limits: { blobBytesPerHub: 1_000_000 } });
  for (const name of ["a", "b", "c", "d", "e", "f", "g", "h"]) await begin(world, name, 1);
  expect(await world.upload("owner", FILM)).toMatchObject({ isComplete: true });
});

test("if the hub has no room, stalled uploads make some, first those that have sent least", async () => {
  const limits = { blobBytesPerHub: 600_000 };
  const world = await worldWith({ limits });
  await begin(world, "a", 100_000);
  for (const name of ["b", "c", "d", "e"]) await begin(world, name, 1);
  expect(await world.upload("owner", FILM)).toMatchObject({ isComplete: true });
  expect(await received(world, "a")).toBe(100_000);
  // A complete blob makes no room.
  await expect(begin(world, "f", 10)).rejects.toMatchObject({ status: 503 });
  expect(await world.blobs.upload({ digest: digestOfAll(FILM), as: "owner" })).toMatchObject({
    isComplete: true,
  });
});

describe("in a full hub", () => {
  const FULL = { limits: { blobBytesPerHub: 1_000_000 } };
  const blob = (seed: number) => someBytes(300_000, seed);
  const MINUTE_MS = 60_000;

  /** Two blobs of one agent, and one of another. */
  async function filled(): Promise<BlobWorld> {
    const world = await worldWith(FULL);
    for (const [as, seed] of [
      ["a", 1],
      ["a", 2],
      ["b", 3],
    ] as const) {
      await world.upload(as, blob(seed));
      world.clock.advance(1);
    }
    return world;
  }

  async function has({ blobs }: BlobWorld, as: string, seed: number): Promise<boolean> {
    return (await blobs.upload({ digest: digestOfAll(blob(seed)), as })).isComplete;
  }

  test("the oldest blob that nothing names makes room, of an agent that has more than the one that uploads", async () => {
    const world = await filled();
    world.clock.advance(MINUTE_MS);
    expect(await world.upload("owner", blob(4))).toMatchObject({ isComplete: true });
    expect(await has(world, "a", 1)).toBe(false);
    expect(await has(world, "a", 2)).toBe(true);
    expect(await has(world, "b", 3)).toBe(true);
    expect(await world.files()).toHaveLength(3);
    // Now all have the same.
    await expect(world.upload("c", blob(5))).rejects.toMatchObject({ status: 503 });
    expect(await world.upload("c", someBytes(70_000, 6))).toMatchObject({ isComplete: true });
  });

  test("whoever has uploaded a blob has a minute to name it", async () => {
    const world = await filled();
    world.clock.advance(MINUTE_MS - 10);
    await expect(world.upload("owner", blob(4))).rejects.toMatchObject({ status: 503 });
    expect(await has(world, "a", 1)).toBe(true);
  });

  test("a blob that an envelope names makes no room", async () => {
    const world = await filled();
    await world.agent("worker", ["work"]);
    for (const seed of [1, 2]) {
      const text = world.handoff("a", "worker", [blobArtifact(blob(seed))]);
      await world.hub.submit(text);
    }
    world.clock.advance(MINUTE_MS);
    await expect(world.upload("owner", blob(4))).rejects.toMatchObject({ status: 503 });
    expect(await world.files()).toHaveLength(3);
  });
});

test("of one agent one blob that has come in parts is hashed again at a time", async () => {
  const store: Store = memoryStore();
  const read = store.blobs!.read.bind(store.blobs);
  let reading = 0;
  let most = 0;
  store.blobs!.read = async function* (name, first, end) {
    // To go on with a file this store reads what it has of it.
    if (end < 100_000) return yield* read(name, first, end);
    most = Math.max(most, ++reading);
    yield* read(name, first, end);
    await new Promise((resolve) => setImmediate(resolve));
    reading--;
  };
  const world = await worldWith({ store });
  const inParts = async (as: string, seed: number) => {
    const bytes = someBytes(100_000, seed);
    const upload = { digest: digestOfAll(bytes), size: bytes.length, as };
    await world.blobs.put(upload, pieces(bytes.subarray(0, 50_000)));
    return world.blobs.put({ ...upload, from: 50_000 }, pieces(bytes.subarray(50_000)));
  };
  const all = await Promise.all([1, 2, 3, 4, 5].map((seed) => inParts("a", seed)));
  expect(all.every(({ isComplete }) => isComplete)).toBe(true);
  expect(most).toBe(1);
});

test("agents together have so many uploads begun", async () => {
  const world = await worldWith({ limits: { blobUploadsPerHub: 2 } });
  await begin(world, "a", 100_000);
  await begin(world, "b", 1);
  await begin(world, "c", 10);
  const each = ["a", "b", "c"].map((name) => received(world, name));
  expect(await Promise.all(each)).toEqual([100_000, 0, 10]);
});

test("uploads leave some of the disk to the ledger, and resume when there is more", async () => {
  const store: Store = memoryStore();
  let room = 1_100_000;
  async function space(): Promise<BlobSpace> {
    let free = room;
    for await (const name of store.blobs!.names()) free -= (await store.blobs!.size(name)) ?? 0;
    return { free, total: 20_000_000 };
  }
  Object.assign(store.blobs!, { space });
  const world = await worldWith({ store });
  const refused = world.upload("owner", FILM);
  await expect(refused).rejects.toMatchObject({ status: 503 });
  await expect(refused).rejects.toThrow("The disk with this hub's blobs is almost full");
  const digest = digestOfAll(FILM);
  const { received: from } = await world.blobs.upload({ digest, as: "owner" });
  expect(from).toBeGreaterThan(0);
  expect(from).toBeLessThanOrEqual(100_000);
  room = 2_000_000;
  const rest = { digest, size: FILM.length, as: "owner", from };
  const upload = await world.blobs.put(rest, pieces(FILM.subarray(from)));
  expect(upload).toMatchObject({ isComplete: true });
});

test("a hub serves before it has counted its blobs, and only uploads wait for that", async () => {
  const store: Store = memoryStore();
  const key = generateKey();
  const before = await worldWith({ store, key });
  await before.upload("owner", FILM);
  await before.hub.close();
  open.length = 0;
  const counting = Promise.withResolvers<void>();
  const slow = new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name] as unknown;
      if (typeof member !== "function") return member;
      if (name !== "settings") return member.bind(target) as unknown;
      return async (...given: Parameters<Store["settings"]>) => {
        if (given[0] === BLOB_ROWS.blobs) await counting.promise;
        return store.settings(...given);
      };
    },
  });
  const world = await BlobWorld.open({ store: slow, key, limits: { blobBytesPerHub: 400_000 } });
  open.push(world);
  const whole = { digest: digestOfAll(FILM), as: "owner" };
  expect(await world.blobs.upload(whole)).toMatchObject({ isComplete: true });
  const uploading = world.upload("a", FILM.toReversed());
  counting.resolve();
  await expect(uploading).rejects.toMatchObject({ status: 503 });
});

import { WaybillError } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import type { HubOptions } from "../engine/options.ts";
import { all, blobArtifact, BlobWorld, digestOfAll, pieces, someBytes } from "./blobs-fixture.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const FILM = someBytes(10_000);
const SONG = someBytes(5_000, 2);

const open: BlobWorld[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.hub.close();
});

async function worldWith(options: Partial<HubOptions> = {}): Promise<BlobWorld> {
  const world = await BlobWorld.open(options);
  open.push(world);
  for (const agent of ["owner", "other"]) await world.agent(agent);
  for (const agent of ["worker", "second"]) await world.agent(agent, ["work"]);
  return world;
}

async function statusOf(action: () => Promise<unknown>): Promise<number> {
  try {
    await action();
    return 200;
  } catch (error) {
    return WaybillError.from(error).status;
  }
}

test("an agent reads what it has uploaded, as a whole and in part", async () => {
  const { blobs } = await worldWith().then((world) => ({ blobs: world.blobs }));
  const digest = digestOfAll(FILM);
  const upload = { digest, size: FILM.length, as: "owner" };
  expect(await blobs.upload(upload)).toEqual({ received: 0, isComplete: false });
  expect(await blobs.put(upload, pieces(FILM))).toEqual({
    received: FILM.length,
    size: FILM.length,
    isComplete: true,
  });
  const { size, bytes } = await blobs.read({ digest, as: "owner" });
  expect(size).toBe(FILM.length);
  expect(await all(bytes)).toEqual(FILM);
  const part = await blobs.read({ digest, as: "owner", first: 999, end: 2_002 });
  expect(await all(part.bytes)).toEqual(FILM.subarray(999, 2_002));
  expect(await blobs.upload(upload)).toMatchObject({ isComplete: true });
  // A complete upload is not written again, and an empty blob is complete.
  expect(await blobs.put(upload, pieces(SONG))).toMatchObject({ isComplete: true });
  const nothing = digestOfAll(new Uint8Array());
  await blobs.put({ digest: nothing, size: 0, as: "owner" }, pieces(new Uint8Array()));
  expect(await all((await blobs.read({ digest: nothing, as: "owner" })).bytes)).toHaveLength(0);
});

test("an upload resumes where it ended, and at no other offset", async () => {
  const { blobs } = await worldWith();
  const digest = digestOfAll(FILM);
  const upload = { digest, size: FILM.length, as: "owner" };
  const first = await blobs.put(upload, pieces(FILM.subarray(0, 4_000)));
  expect(first).toEqual({ received: 4_000, size: FILM.length, isComplete: false });
  expect(await blobs.upload(upload)).toEqual(first);
  for (const from of [1, 3_999, 4_001]) {
    const wrong = blobs.put({ ...upload, from }, pieces(FILM.subarray(from)));
    await expect(wrong).rejects.toMatchObject({ status: 409, received: 4_000 });
  }
  expect(await blobs.put({ ...upload, from: 4_000 }, pieces(FILM.subarray(4_000)))).toMatchObject({
    isComplete: true,
  });
  expect(await all((await blobs.read({ digest, as: "owner" })).bytes)).toEqual(FILM);
});

test("bytes that arrived before a source failed are kept, and an upload from byte 0 starts over", async () => {
  const { blobs } = await worldWith();
  const digest = digestOfAll(FILM);
  const upload = { digest, size: FILM.length, as: "owner" };
  async function* breaking() {
    yield FILM.subarray(0, 1_234);
    throw new WaybillError(503, "The line is cut.");
  }
  await expect(blobs.put(upload, breaking())).rejects.toMatchObject({ status: 503 });
  expect(await blobs.upload(upload)).toMatchObject({ received: 1_234 });
  await blobs.put(upload, pieces(FILM));
  expect(await all((await blobs.read({ digest, as: "owner" })).bytes)).toEqual(FILM);
});

test("bytes of another digest are refused, and nothing of them is kept", async () => {
  const world = await worldWith();
  const digest = digestOfAll(FILM);
  const upload = { digest, size: FILM.length, as: "owner" };
  const wrong = FILM.with(9_999, FILM[9_999]! ^ 1);
  expect(await statusOf(() => world.blobs.put(upload, pieces(wrong)))).toBe(400);
  expect(await world.rows()).toEqual([]);
  expect(await world.files()).toEqual([]);
  // In two parts too, of which the second one is right.
  await world.blobs.put(upload, pieces(wrong.toReversed().subarray(0, 5_000)));
  const second = { ...upload, from: 5_000 };
  expect(await statusOf(() => world.blobs.put(second, pieces(FILM.subarray(5_000))))).toBe(400);
  expect(await world.files()).toEqual([]);
  expect(await world.blobs.upload(upload)).toMatchObject({ received: 0 });
  await world.blobs.put(upload, pieces(FILM));
});

test("more bytes than were announced are refused", async () => {
  const world = await worldWith();
  const upload = { digest: digestOfAll(FILM), size: 5_500, as: "owner" };
  expect(await statusOf(() => world.blobs.put(upload, pieces(FILM)))).toBe(400);
  expect(await world.blobs.upload(upload)).toMatchObject({ received: 5_500, isComplete: false });
});

test("a later upload of the same blob replaces one that has gone silent", async () => {
  const { blobs } = await worldWith();
  const upload = { digest: digestOfAll(FILM), size: FILM.length, as: "owner" };
  let isAsked = () => undefined as void;
  const silence = new Promise<void>((resolve) => (isAsked = resolve));
  async function* silent() {
    yield FILM.subarray(0, 1_000);
    isAsked();
    await new Promise(() => undefined);
  }
  const first = blobs.put(upload, silent());
  first.catch(() => undefined);
  await silence;
  expect(await blobs.upload(upload)).toMatchObject({ received: 1_000 });
  await blobs.put({ ...upload, from: 1_000 }, pieces(FILM.subarray(1_000)));
  await expect(first).rejects.toMatchObject({ status: 409 });
});

test("an envelope may refer only to what its sender has uploaded completely", async () => {
  const world = await worldWith();
  const { hub, blobs } = world;
  const artifact = blobArtifact(FILM);
  const submit = (from: string, over = artifact) =>
    hub.submit(world.handoff(from, "worker", [over]));
  expect(await statusOf(() => submit("owner"))).toBe(403);
  const upload = { digest: digestOfAll(FILM), size: FILM.length, as: "owner" };
  await blobs.put(upload, pieces(FILM.subarray(0, 9_999)));
  expect(await statusOf(() => submit("owner"))).toBe(403);
  await world.upload("owner", FILM);
  expect(await statusOf(() => submit("other"))).toBe(403);
  expect(await statusOf(() => submit("owner", { ...artifact, size: 9_999 }))).toBe(400);
  await submit("owner");
  // The second time by the right that the first handoff gives.
  await submit("owner");
});

test("a blob is readable by the parties of the handoff that refers to it, and by nobody else", async () => {
  const world = await worldWith();
  const { hub, blobs } = world;
  await world.upload("owner", FILM);
  const next = await world.offers("worker");
  const digest = digestOfAll(FILM);
  const read = (as: string) => async () => all((await blobs.read({ digest, as })).bytes);
  for (const as of ["worker", "other", "second"]) expect(await statusOf(read(as))).toBe(403);
  await hub.submit(world.handoff("owner", "worker", [blobArtifact(FILM)]));
  const offer = await next();
  for (const as of ["owner", "worker"]) expect(await read(as)()).toEqual(FILM);
  for (const as of ["other", "second"]) expect(await statusOf(read(as))).toBe(403);
  // The recipient may refer to what it may read: in its result, and in other handoffs.
  await world.upload("worker", SONG);
  await hub.submit(world.result(offer, "worker", [blobArtifact(FILM), blobArtifact(SONG)]));
  const song = await blobs.read({ digest: digestOfAll(SONG), as: "owner" });
  expect(await all(song.bytes)).toEqual(SONG);
  await hub.submit(world.handoff("worker", "second", [blobArtifact(FILM)]));
  await (
    await world.offers("second")
  )();
  expect(await read("second")()).toEqual(FILM);
});

test("a result with an unpermitted reference is refused, and can be sent again without it", async () => {
  const world = await worldWith();
  const next = await world.offers("worker");
  await world.hub.submit(world.handoff("owner", "worker", []));
  const offer = await next();
  const result = () => world.hub.submit(world.result(offer, "worker", [blobArtifact(SONG)]));
  expect(await statusOf(result)).toBe(403);
  await world.upload("worker", SONG);
  await result();
});

test("an agent can't find out what others have uploaded", async () => {
  const world = await worldWith();
  const { hub, blobs } = world;
  await world.upload("other", FILM);
  const seen = async (bytes: Uint8Array) => {
    const digest = digestOfAll(bytes);
    const told = async (action: () => Promise<unknown>) => {
      try {
        return await action();
      } catch (error) {
        const { status, message } = WaybillError.from(error);
        return { status, message: message.replaceAll(digest, "…") };
      }
    };
    const upload = { digest, size: 10_000, as: "owner" };
    return [
      await told(() => blobs.upload(upload)),
      await told(() => blobs.read(upload)),
      await told(() => hub.submit(world.handoff("owner", "worker", [blobArtifact(bytes)]))),
      await told(() => blobs.put({ ...upload, from: 1 }, pieces(bytes.subarray(1)))),
      await told(() => blobs.put(upload, pieces(bytes.subarray(0, 10)))),
      await told(() => blobs.put({ ...upload, from: 10 }, pieces(bytes.subarray(10)))),
    ];
  };
  expect(await seen(FILM)).toEqual(await seen(someBytes(10_000, 7)));
  // Of two files with the same bytes the hub keeps one.
  expect(
    (await world.files()).filter((name) => name.startsWith(digestOfAll(FILM).slice(7))),
  ).toHaveLength(1);
});

test("an unreferenced upload is removed after a day, and a referenced one stays", async () => {
  const world = await worldWith();
  const { clock } = world;
  await world.upload("owner", FILM);
  await world.upload("owner", SONG);
  await world.hub.submit(
    world.handoff("owner", "worker", [blobArtifact(FILM)], { timeoutMs: 9 * DAY_MS }),
  );
  clock.advance(DAY_MS - 1);
  await world.restart();
  expect(await world.files()).toHaveLength(2);
  clock.advance(1);
  await world.restart();
  expect(await world.files()).toHaveLength(1);
  const { bytes } = await world.blobs.read({ digest: digestOfAll(FILM), as: "owner" });
  expect(await all(bytes)).toEqual(FILM);
  expect(await statusOf(() => world.blobs.read({ digest: digestOfAll(SONG), as: "owner" }))).toBe(
    403,
  );
});

test("the uploader of a blob is not charged for what others keep", async () => {
  const world = await worldWith({ limits: { blobBytesPerAgent: 100_000 } });
  const next = await world.offers("worker");
  await world.upload("owner", FILM);
  await world.hub.submit(
    world.handoff("owner", "worker", [blobArtifact(FILM)], { timeoutMs: DAY_MS }),
  );
  const offer = await next();
  const keeping = { timeoutMs: 300 * DAY_MS };
  await world.hub.submit(world.handoff("worker", "second", [blobArtifact(FILM)], keeping));
  await world.hub.submit(world.result(offer, "worker", []));
  // The agent's allowance has room for one file.
  expect(await statusOf(() => world.upload("owner", SONG))).toBe(301);
  world.clock.advance(31 * DAY_MS);
  await world.restart();
  await world.upload("owner", SONG);
  expect(await statusOf(() => world.upload("worker", SONG.toReversed()))).toBe(301);
});

test("a blob is removed some time after the end of the last handoff that names it", async () => {
  const world = await worldWith({ limits: { blobKeptMs: 3 * DAY_MS } });
  const { hub, clock } = world;
  await world.upload("owner", FILM);
  const submit = (timeoutMs: number) =>
    hub.submit(world.handoff("owner", "worker", [blobArtifact(FILM)], { timeoutMs }));
  await submit(DAY_MS);
  await submit(2 * DAY_MS);
  clock.advance(DAY_MS);
  await world.restart();
  clock.advance(3 * DAY_MS);
  await world.restart();
  expect(await world.files()).toHaveLength(1);
  clock.advance(DAY_MS);
  await world.restart();
  clock.advance(3 * DAY_MS);
  await world.restart();
  expect(await world.files()).toEqual([]);
  expect(await world.rows()).toEqual([]);
});

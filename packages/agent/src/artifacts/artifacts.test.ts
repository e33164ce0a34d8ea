/// <reference types="node" />
import { createHash } from "node:crypto";
import { appendFile, mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { newId, parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import type { Blobs, Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { artifactOf } from "../adapter/index.ts";
import type { Work } from "../serving/work.ts";
import { refusalOf, World } from "../world-fixture.ts";
import type { GivenArtifact } from "./given.ts";
import type { ReceivedArtifact } from "./received.ts";

const SIZE = 200_000;
const LARGE = Uint8Array.from({ length: SIZE }, (_, index) => (index * 31 + (index >> 8)) % 256);
const DIGEST = `sha256:${createHash("sha256").update(LARGE).digest("hex")}`;
const BLOB = { name: "film.mp4", media_type: "video/mp4", digest: DIGEST, size: SIZE };

async function fileOf(bytes: Uint8Array = LARGE, name = "film.mp4"): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), "artifacts-")), name);
  await writeFile(path, bytes);
  return path;
}

async function* inPieces(bytes: Uint8Array, length = 7_001): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** A hub whose blob operations are partly replaced. */
function withBlobs(hub: Hub, changed: Partial<Blobs>): Hub {
  const { put, upload, read } = hub.blobs!;
  const blobs = {
    put: put.bind(hub.blobs),
    upload: upload.bind(hub.blobs),
    read: read.bind(hub.blobs),
    ...changed,
  };
  return { ...hub, blobs };
}

/** Advances the clock until the promise settles. */
async function inTime<Value>(world: World, happening: Promise<Value>): Promise<Value> {
  let isOver = false;
  const end = () => (isOver = true);
  happening.then(end, end);
  while (!isOver) await world.clock.advance(100);
  return happening;
}

/** A hub that counts what is uploaded to it. */
function counting(hub: Hub): { hub: Hub; uploads: string[] } {
  const uploads: string[] = [];
  const counted = withBlobs(hub, {
    put(part, bytes) {
      uploads.push(`${part.as} ${part.from}`);
      return hub.blobs!.put(part, bytes);
    },
  });
  return { hub: counted, uploads };
}

/** A delegator and a worker with the given handler. */
async function between(handler: (work: Work) => unknown, hub?: (hub: Hub) => Hub) {
  const world = await World.open();
  const line = hub?.(world.hub) ?? world.hub;
  const worker = world.agent("worker", { hub: line });
  worker.serve("work", handler as never);
  await worker.start();
  const owner = world.agent("owner", { hub: line });
  const hand = (artifacts: GivenArtifact[], handoffId?: string) =>
    owner.handoff({ capability: "work", artifacts, handoffId });
  return { world, owner, worker, hand };
}

const GIVEN: [string, () => Promise<GivenArtifact>][] = [
  ["bytes", async () => ({ name: "film.mp4", bytes: LARGE })],
  ["a path", async () => ({ path: await fileOf() })],
  ["a URL of a file", async () => ({ path: pathToFileURL(await fileOf()) })],
  ["a stream", async () => ({ name: "film.mp4", stream: inPieces(LARGE) })],
  ["an artifact", async () => artifactOf("film.mp4", "video/mp4", LARGE)],
];

for (const [form, given] of GIVEN) {
  test(`a large file given as ${form} is stored at the hub, in a handoff and in a result`, async () => {
    const { world, hand } = await between(async ({ artifacts: [film], result }) => {
      expect(Buffer.from(await film!.bytes()).equals(LARGE)).toBe(true);
      return result({ artifacts: [await given()] });
    });
    const handle = hand([await given()]);
    const { artifacts, envelope } = await handle.result;
    expect(parseEnvelope(readCompact(handle.text).payload)).toMatchObject({
      body: { artifacts: [BLOB] },
    });
    expect(parseEnvelope(readCompact(envelope).payload)).toMatchObject({
      body: { artifacts: [BLOB] },
    });
    expect(artifacts).toEqual([BLOB]);
    expect(Buffer.from(await artifacts[0]!.bytes()).equals(LARGE)).toBe(true);
    expect(world.errors).toEqual([]);
  });
}

test("small files are sent inline, and those that exceed the total are uploaded", async () => {
  const small = LARGE.subarray(0, 60_000);
  const { hand } = await between(async ({ artifacts, result }) => {
    const bytes = await Promise.all(artifacts.map((each) => each.bytes()));
    expect(bytes.every((each) => Buffer.from(each).equals(small))).toBe(true);
    return result({ output: artifacts.map(({ size }) => size ?? "inline") });
  });
  const path = await fileOf(small, "note.txt");
  const handle = hand([
    { name: "a", bytes: small },
    { path },
    ...["c", "d", "e"].map((name) => ({ name, stream: inPieces(small) })),
  ]);
  expect((await handle.result).output).toEqual(["inline", "inline", "inline", "inline", 60_000]);
  expect(handle.envelope.body.artifacts?.map(({ name, media_type }) => [name, media_type])).toEqual(
    [
      ["a", "application/octet-stream"],
      ["note.txt", "text/plain"],
      ...["c", "d", "e"].map((name) => [name, "application/octet-stream"]),
    ],
  );
});

test("the inline limit is a setting of the agent", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", ({ artifacts }) => artifacts.map(({ size }) => size ?? "inline"));
  await worker.start();
  const sizes = async (inlineArtifactBytes: number) => {
    const owner = world.agent(`owner-${inlineArtifactBytes}`, { inlineArtifactBytes });
    const artifacts = [0, 10, 11].map((length) => ({
      name: "a",
      bytes: LARGE.subarray(0, length),
    }));
    return (await owner.handoff({ capability: "work", artifacts }).result).output;
  };
  expect(await sizes(10)).toEqual(["inline", "inline", 11]);
  expect(await sizes(0)).toEqual(["inline", 10, 11]);
  expect(() => world.agent("b", { inlineArtifactBytes: Number.NaN })).toThrow(
    /inlineArtifactBytes is NaN: give a number of bytes/,
  );
});

test("a received file can be streamed, and is saved only when it is complete", async () => {
  const folder = await mkdtemp(join(tmpdir(), "saved-"));
  const { hand } = await between(({ artifacts: [film], result }) => result({ artifacts: [film!] }));
  const { artifacts } = await hand([{ name: "film.mp4", bytes: LARGE }]).result;
  const pieces = await Array.fromAsync(artifacts[0]!.stream());
  expect(Buffer.concat(pieces).equals(LARGE)).toBe(true);
  await artifacts[0]!.save(join(folder, "film.mp4"));
  await artifacts[0]!.save(pathToFileURL(join(folder, "film.mp4")));
  expect((await readFile(join(folder, "film.mp4"))).equals(LARGE)).toBe(true);
  expect(await readdir(folder)).toEqual(["film.mp4"]);
  await expect(artifacts[0]!.save(join(folder, "no", "film.mp4"))).rejects.toMatchObject({
    message: /The artifact film\.mp4 was not saved at .*film\.mp4: ENOENT/,
  });
});

test("more bytes than the limit are not read into memory", async () => {
  let reads = 0;
  const { hand } = await between(
    async ({ artifacts: [film] }) => {
      const refused = await refusalOf(film!.bytes({ limit: SIZE - 1 }));
      return [refused.status, refused.message, reads, (await film!.bytes({ limit: SIZE })).length];
    },
    (hub) =>
      withBlobs(hub, {
        read(query) {
          reads++;
          return hub.blobs!.read(query);
        },
      }),
  );
  const { output } = await hand([{ name: "film.mp4", bytes: LARGE }]).result;
  expect(output).toEqual([
    413,
    `The artifact film.mp4 has ${SIZE} bytes, and at most ${SIZE - 1} are read into memory: give a higher limit, or read it with stream() or save().`,
    0,
    SIZE,
  ]);
});

const LIES: [string, (bytes: Uint8Array) => Uint8Array][] = [
  ["other bytes", (bytes) => bytes.map((byte) => byte ^ 1)],
  ["fewer bytes", (bytes) => bytes.subarray(0, SIZE - 1)],
  ["more bytes", (bytes) => Buffer.concat([bytes, Uint8Array.of(7)])],
];

for (const [lie, change] of LIES) {
  test(`a hub that gives ${lie} is refused, and nothing is saved`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "saved-"));
    const { hand } = await between(
      ({ artifacts, result }) => result({ artifacts }),
      (hub) =>
        withBlobs(hub, {
          async read(query) {
            return { ...(await hub.blobs!.read(query)), bytes: inPieces(change(LARGE)) };
          },
        }),
    );
    const { artifacts } = await hand([{ name: "film.mp4", bytes: LARGE }]).result;
    const [film] = artifacts as [ReceivedArtifact];
    for (const reading of [
      film.bytes(),
      Array.fromAsync(film.stream()),
      film.save(join(folder, "film.mp4")),
    ]) {
      const { status, message } = await refusalOf(reading);
      expect([status, message]).toEqual([422, expect.stringContaining("film.mp4")]);
    }
    expect(await readdir(folder)).toEqual([]);
  });
}

const never = (): Promise<never> => new Promise(() => undefined);

/** Hubs that deliver the bytes of a blob far too slowly. */
const SLOW: [string, (world: () => World) => () => AsyncIterable<Uint8Array>, RegExp][] = [
  [
    "stalls in the middle",
    () =>
      async function* () {
        yield LARGE.subarray(0, 1_000);
        await never();
      },
    /^The artifact film\.mp4 was not read in time: 1000 of 200000 bytes came from the hub, and then none for 60 s\./,
  ],
  [
    "drips",
    (world) =>
      async function* () {
        for (const byte of LARGE) {
          await new Promise<void>((resolve) => {
            world().clock.setTimer(world().clock.now() + 5_000, resolve);
          });
          yield Uint8Array.of(byte);
        }
      },
    /^The artifact film\.mp4 was not read in time: 12 of 200000 bytes came from the hub in 63 s, which is too slow/,
  ],
  [
    "drops every connection",
    () =>
      async function* () {
        yield* [];
        throw new WaybillError(503, "The hub is gone.");
      },
    /: 0 of 200000 bytes came from the hub, and then none for 60 s\. .* The last failure: The hub is gone\.$/,
  ],
];

for (const [slow, bytes, message] of SLOW) {
  test(`reading from a hub that ${slow} is given up, and nothing is saved`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "saved-"));
    const there: { world?: World } = {};
    const given = bytes(() => there.world!);
    const { hand, world } = await between(
      ({ artifacts, result }) => result({ artifacts }),
      (hub) => withBlobs(hub, { read: async () => ({ size: SIZE, bytes: given() }) }),
    );
    there.world = world;
    const { artifacts } = await hand([{ name: "film.mp4", bytes: LARGE }]).result;
    const [film] = artifacts as [ReceivedArtifact];
    const began = world.clock.now();
    const refused = await inTime(world, refusalOf(film.bytes()));
    expect([refused.status, refused.message]).toEqual([504, expect.stringMatching(message)]);
    expect(world.clock.now() - began).toBeLessThan(65_000);
    const unsaved = await inTime(world, refusalOf(film.save(join(folder, "film.mp4"))));
    expect([unsaved.status, unsaved.message]).toEqual([504, expect.stringMatching(message)]);
    expect(await readdir(folder)).toEqual([]);
  });
}

test("a reader sets its own time limit, and its abort reaches the hub", async () => {
  const ends: boolean[] = [];
  const { hand } = await between(
    ({ artifacts, result }) => result({ artifacts }),
    (hub) =>
      withBlobs(hub, {
        async read({ signal }) {
          signal!.addEventListener("abort", () => ends.push(true));
          return { size: SIZE, bytes: SLOW[0]![1](() => undefined as never)() };
        },
      }),
  );
  const { artifacts } = await hand([{ name: "film.mp4", bytes: LARGE }]).result;
  const [film] = artifacts as [ReceivedArtifact];
  const ended = new AbortController();
  const signal = ended.signal;
  const pieces = film.stream({ signal })[Symbol.asyncIterator]();
  expect((await pieces.next()).value).toHaveLength(1_000);
  const next = refusalOf(pieces.next());
  ended.abort(new DOMException("It is time.", "TimeoutError"));
  expect(await next).toMatchObject({
    status: 504,
    message:
      "The artifact film.mp4 was not read in time: 1000 of 200000 bytes came from the hub within the given time. Read it again, with more time.",
  });
  expect(ends).toEqual([true]);
  const stopped = new WaybillError(499, "Stopped.");
  expect(await refusalOf(film.bytes({ signal: AbortSignal.abort(stopped) }))).toBe(stopped);
  expect(await refusalOf(film.save("film.mp4", { signal: AbortSignal.abort(stopped) }))).toBe(
    stopped,
  );
});

test("the time that a reader takes to process the bytes does not count against the hub", async () => {
  const { hand, world } = await between(
    ({ artifacts, result }) => result({ artifacts }),
    (hub) => withBlobs(hub, { read: async () => ({ size: SIZE, bytes: inPieces(LARGE) }) }),
  );
  const { artifacts } = await hand([{ name: "film.mp4", bytes: LARGE }]).result;
  let received = 0;
  for await (const piece of artifacts[0]!.stream()) {
    received += piece.length;
    await world.clock.advance(30_000);
  }
  expect(received).toBe(SIZE);
});

test("a download that is refused because too many are open is retried", async () => {
  let busy = 2;
  const { hand, world } = await between(
    ({ artifacts, result }) => result({ artifacts }),
    (hub) =>
      withBlobs(hub, {
        async read(query) {
          if (busy-- > 0) throw new WaybillError(301, "so many are read at once");
          return hub.blobs!.read(query);
        },
      }),
  );
  const { artifacts } = await hand([{ name: "film.mp4", bytes: LARGE }]).result;
  expect(await inTime(world, artifacts[0]!.bytes())).toHaveLength(SIZE);
});

test("handing received work on refers to the same file without transferring it again", async () => {
  const world = await World.open();
  const { hub, uploads } = counting(world.hub);
  const reading = { count: 0 };
  const middleHub = withBlobs(hub, {
    read(query) {
      reading.count++;
      return hub.blobs!.read(query);
    },
  });
  const worker = world.agent("worker", { hub });
  worker.serve("work", async ({ artifacts: [film] }) => (await film!.bytes()).length);
  const middle = world.agent("middle", { hub: middleHub });
  middle.serve("pass", async ({ handoff, artifacts }) => {
    const { output } = await handoff({ capability: "work", artifacts }).result;
    return output!;
  });
  await Promise.all([worker.start(), middle.start()]);
  const owner = world.agent("owner", { hub });
  const path = await fileOf();
  const { output } = await owner.handoff({ capability: "pass", artifacts: [{ path }] }).result;
  expect([output, uploads, reading.count]).toEqual([SIZE, ["owner 0"], 0]);
});

test("a file that was loaded is referred to when it is handed on, and not uploaded again", async () => {
  const world = await World.open();
  const { hub, uploads } = counting(world.hub);
  const worker = world.agent("worker", { hub });
  worker.serve("work", async ({ artifacts: [film] }) => (await film!.bytes()).length);
  const middle = world.agent("middle", { hub });
  middle.serve("pass", async ({ handoff, artifacts: [film] }) => {
    const artifacts = [artifactOf(film!.name, film!.media_type, await film!.bytes())];
    return (await handoff({ capability: "work", artifacts }).result).output!;
  });
  await Promise.all([worker.start(), middle.start()]);
  const owner = world.agent("owner", { hub });
  const artifacts = [{ name: "film.mp4", bytes: LARGE }];
  const { output } = await owner.handoff({ capability: "pass", artifacts }).result;
  expect([output, uploads]).toEqual([SIZE, ["owner 0"]]);
});

test("several handoffs with one file upload it once", async () => {
  const world = await World.open();
  const { hub, uploads } = counting(world.hub);
  const worker = world.agent("worker", { hub });
  worker.serve("work", ({ artifacts: [film] }) => film!.size!);
  await worker.start();
  const owner = world.agent("owner", { hub });
  const path = await fileOf();
  const results = Array.from({ length: 5 }, () => {
    return owner.handoff({ capability: "work", artifacts: [{ path }] }).result;
  });
  expect((await Promise.all(results)).map(({ output }) => output)).toEqual(Array(5).fill(SIZE));
  expect(uploads).toEqual(["owner 0"]);
});

test("an interrupted upload resumes where it ended", async () => {
  const firsts: number[] = [];
  let cuts = 3;
  async function* cutting(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    let sent = 0;
    for await (const piece of bytes) {
      if (cuts > 0 && sent > 40_000) {
        cuts--;
        throw new WaybillError(503, "The connection was cut.");
      }
      sent += piece.length;
      yield piece;
    }
  }
  const { hand, world } = await between(
    async ({ artifacts: [film] }) => (await film!.bytes()).length,
    (hub) =>
      withBlobs(hub, {
        put(part, bytes) {
          firsts.push(part.from!);
          return hub.blobs!.put(part, cutting(bytes));
        },
      }),
  );
  const handle = hand([{ name: "film.mp4", stream: inPieces(LARGE) }]);
  const { output } = await inTime(world, handle.result);
  expect(output).toBe(SIZE);
  expect(firsts).toHaveLength(4);
  expect(firsts[0]).toBe(0);
  expect(firsts.every((first, at) => at === 0 || first > firsts[at - 1]!)).toBe(true);
});

test("bytes appended to a file during its upload are not sent; a changed file is refused", async () => {
  const path = await fileOf();
  const changes = [() => appendFile(path, "more"), () => writeFile(path, LARGE.toReversed())];
  const { hand } = await between(
    async ({ artifacts: [film] }) => (await film!.bytes()).length,
    (hub) =>
      withBlobs(hub, {
        async upload(query) {
          await changes.shift()?.();
          return hub.blobs!.upload(query);
        },
      }),
  );
  expect((await hand([{ path }]).result).output).toBe(SIZE);
  expect((await stat(path)).size).toBe(SIZE + 4);
  await writeFile(
    path,
    LARGE.map((byte) => byte ^ 3),
  );
  await expect(hand([{ path }]).result).rejects.toMatchObject({
    status: 422,
    message: /film\.mp4 was not sent: its bytes have changed since/,
  });
});

test("a missing file fails the handoff, or the work whose result it belongs to", async () => {
  const { hand } = await between(({ result }) =>
    result({ artifacts: [{ path: "/nowhere/made.bin" }] }),
  );
  const message = (path: string) => new RegExp(`The file ${path} can't be read.*ENOENT`);
  await expect(hand([{ path: "/nowhere/film.mp4" }]).result).rejects.toMatchObject({
    status: 422,
    message: message("/nowhere/film.mp4"),
  });
  await expect(hand([]).result).rejects.toMatchObject({
    status: 422,
    message: message("/nowhere/made.bin"),
  });
});

test("a handoff that is cancelled during its uploads is never sent", async () => {
  const begun = Promise.withResolvers<void>();
  const { world, hand, owner } = await between(
    () => "done",
    (hub) =>
      withBlobs(hub, {
        put() {
          begun.resolve();
          return new Promise<never>(() => undefined);
        },
      }),
  );
  const handle = hand([{ name: "film.mp4", bytes: LARGE }]);
  await begun.promise;
  expect(await handle.cancel("Nobody wants it.")).toBe(true);
  await expect(handle.result).rejects.toMatchObject({
    status: 499,
    message: "The handoff was cancelled while its files were uploaded. Nobody wants it.",
  });
  expect(await world.hub.handoff(handle.id, "owner")).toBeUndefined();
  await owner.stop();
});

test("an upload that is not finished by the deadline reports how far it got", async () => {
  const begun = Promise.withResolvers<void>();
  const { world, owner } = await between(
    () => "done",
    (hub) =>
      withBlobs(hub, {
        async put() {
          begun.resolve();
          throw new WaybillError(503, "The disk of the hub is full.");
        },
      }),
  );
  const artifacts = [{ name: "film.mp4", bytes: LARGE }];
  const handle = owner.handoff({ capability: "work", artifacts, timeoutMs: 10_000 });
  await begun.promise;
  await world.clock.advance(10_000);
  await expect(handle.result).rejects.toMatchObject({
    status: 504,
    message: `The artifact film.mp4 was not uploaded in time: 0 of ${SIZE} bytes have arrived at the hub. The disk of the hub is full. A retry resumes there: give it more time.`,
  });
});

test("the same work under the same id is found again, in whatever form its files are given", async () => {
  let runs = 0;
  const { world, owner, hand } = await between(() => ++runs);
  const handoffId = newId();
  const path = await fileOf();
  const first = hand([{ path }], handoffId);
  expect(hand([{ path }], handoffId)).toBe(first);
  expect(() => hand([{ path: "other.mp4" }], handoffId)).toThrow(
    expect.objectContaining({ status: 409 }),
  );
  expect((await first.result).output).toBe(1);
  await owner.stop();
  const later = world.agent("owner");
  for (const given of [{ path }, { name: "film.mp4", bytes: LARGE }]) {
    const again = later.handoff({ capability: "work", artifacts: [given], handoffId });
    expect((await again.result).output).toBe(1);
  }
  const other = [{ name: "film.mp4", bytes: LARGE.subarray(1) }];
  expect(() => later.handoff({ capability: "work", artifacts: other, handoffId })).toThrow(
    expect.objectContaining({ status: 409 }),
  );
  await later.stop();
  const taken = world.agent("owner").handoff({ capability: "work", artifacts: other, handoffId });
  await expect(taken.result).rejects.toMatchObject({ status: 409 });
});

test("a blob that the agent may not read is refused with 403, and the work does not start", async () => {
  const { hand } = await between(() => "done");
  const artifacts = [BLOB as Artifact];
  await expect(hand(artifacts).result).rejects.toMatchObject({ status: 403 });
});

test("a file stored at the hub of another domain is copied to this one", async () => {
  const far = await World.open();
  const farWorker = far.agent("far-worker");
  farWorker.serve("work", async ({ artifacts: [film], result }) => {
    expect((await film!.bytes()).length).toBe(SIZE);
    return result({ artifacts: [{ name: "back.mp4", bytes: LARGE.toReversed() }] });
  });
  await farWorker.start();
  const abroad = far.agent("relay");
  const { hand } = await between(async ({ artifacts, result }) => {
    const passed = await abroad.handoff({ capability: "work", artifacts }).result;
    return result({ artifacts: passed.artifacts });
  });
  const { artifacts } = await hand([{ path: await fileOf() }]).result;
  expect(Buffer.from(await artifacts[0]!.bytes()).equals(LARGE.toReversed())).toBe(true);
});

/// <reference types="node" />
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { digestOfBytes, generateKey, WaybillError } from "@waybill/protocol";
import type { Blobs, Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { createAgent } from "../agent.ts";
import type { Agent } from "../agent.ts";
import { refusalOf } from "../world-fixture.ts";
import { addressOf } from "./address.ts";
import { RemoteBlobs } from "./remote-blobs.ts";
import { Network } from "./served-fixture.ts";

const SIZE = 3_000_000;
const FILM = Uint8Array.from({ length: SIZE }, (_, index) => (index * 31 + (index >> 8)) % 256);
const DIGEST = digestOfBytes(FILM);

async function* inPieces(bytes: Uint8Array, length = 65_536): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function echo(network: Network, url?: string): Promise<Agent> {
  const worker = await network.agent("worker", url);
  worker.serve("work", async ({ artifacts: [film], result }) => {
    const bytes = await film!.bytes();
    return result({ artifacts: [{ name: "back.mp4", bytes: bytes.toReversed() }] });
  });
  await worker.start();
  return worker;
}

/** A started agent, and the offset at which each of its uploads began. */
async function watched(
  network: Network,
  url: string,
  passing: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array> = (bytes) => bytes,
) {
  const hub = await network.connect(url);
  const firsts: number[] = [];
  const blobs: Blobs = {
    upload: (asked) => hub.blobs!.upload(asked),
    read: (read) => hub.blobs!.read(read),
    put(part, bytes) {
      firsts.push(part.from!);
      return hub.blobs!.put(part, passing(bytes));
    },
  };
  const line: Hub = {
    id: hub.id,
    domain: hub.domain,
    submit: (envelope) => hub.submit(envelope),
    publish: (...manifest) => hub.publish(...manifest),
    manifests: (query) => hub.manifests(query),
    find: (query) => hub.find(query),
    attach: (...request) => hub.attach(...request),
    handoff: (id, as) => hub.handoff(id, as),
    challenge: () => hub.challenge!(),
    blobs,
  };
  const owner = createAgent({ id: "owner", key: generateKey(), hub: line });
  await owner.start();
  return { owner, firsts };
}

test("a large file goes to a served hub and comes back", async () => {
  const network = await Network.open();
  await echo(network);
  const owner = await network.agent("owner");
  const artifacts = [{ name: "film.mp4", stream: inPieces(FILM) }];
  const handle = owner.handoff({ capability: "work", artifacts });
  const [back] = (await handle.result).artifacts;
  expect(handle.envelope.body.artifacts).toMatchObject([{ digest: DIGEST, size: SIZE }]);
  expect(back).toMatchObject({ name: "back.mp4", size: SIZE });
  expect(Buffer.from(await back!.bytes()).equals(FILM.toReversed())).toBe(true);
  await network.close();
});

test("uploads and downloads resume where the connection was cut", async () => {
  const network = await Network.open();
  const proxy = await network.proxy();
  await echo(network);
  const { owner, firsts } = await watched(network, proxy.url);
  let cuts = 0;
  let passed = 0;
  proxy.onPiece = (cut) => {
    passed++;
    // Late enough that each request has transferred something, and often enough to cut every one.
    if (cuts < 6 && passed % 12 === 0) {
      cuts++;
      cut();
    }
  };
  const artifacts = [{ name: "film.mp4", bytes: FILM }];
  const { artifacts: made } = await owner.handoff({ capability: "work", artifacts }).result;
  expect(cuts).toBeGreaterThan(1);
  expect(Math.max(...firsts)).toBeGreaterThan(0);
  cuts = 0;
  const received = Buffer.concat(await Array.fromAsync(made[0]!.stream()));
  expect(received.equals(FILM.toReversed())).toBe(true);
  expect(cuts).toBeGreaterThan(1);
  await network.close();
});

test("an upload resumes after the hub was restarted", async () => {
  const network = await Network.open();
  await echo(network);
  const proxy = await network.proxy();
  const halfway = Promise.withResolvers<void>();
  const isUp = Promise.withResolvers<void>();
  async function* waiting(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    let passed = 0;
    for await (const piece of bytes) {
      yield piece;
      passed += piece.length;
      if (passed < SIZE / 2) continue;
      halfway.resolve();
      await isUp.promise;
    }
  }
  const { owner, firsts } = await watched(network, proxy.url, waiting);
  const artifacts = [{ name: "film.mp4", stream: inPieces(FILM) }];
  const { result } = owner.handoff({ capability: "work", artifacts });
  await halfway.promise;
  const isDown = network.down();
  proxy.cut();
  const port = await isDown;
  await network.up(network.key, network.store, port);
  isUp.resolve();
  expect((await result).artifacts).toMatchObject([{ name: "back.mp4", size: SIZE }]);
  expect([firsts[0], Math.max(...firsts) > 0]).toEqual([0, true]);
  await network.close();
});

test("an agent that may not read a blob gets the same answer whether the blob exists or not", async () => {
  const network = await Network.open();
  await echo(network);
  const owner = await network.agent("owner");
  const artifacts = [{ name: "film.mp4", bytes: FILM }];
  await owner.handoff({ capability: "work", artifacts }).result;
  const stranger = await network.agent("stranger");
  const name = { name: "film.mp4", media_type: "video/mp4" };
  for (const digest of [DIGEST, digestOfBytes(FILM.subarray(1))]) {
    const wanted = [{ ...name, digest, size: SIZE }];
    const refused = await refusalOf(
      stranger.handoff({ capability: "work", artifacts: wanted }).result,
    );
    expect([refused.status, refused.message.replace(digest, "…")]).toEqual([
      403,
      expect.stringContaining("which its sender has not completely uploaded"),
    ]);
  }
  await network.close();
});

/** A server at an address where a hub was before. */
async function served(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly blobs: RemoteBlobs; close(): void }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  const closing = new AbortController();
  const blobs = new RemoteBlobs(addressOf(`http://127.0.0.1:${port}`), closing.signal);
  return {
    blobs,
    close() {
      closing.abort(new WaybillError(503, "Closed here."));
      server.closeAllConnections();
      server.close();
    },
  };
}

const asked = { digest: DIGEST, as: "owner", sign: () => "Waybill proof" };

test("a refusal that arrives before all bytes are sent is the answer", async () => {
  const { blobs, close } = await served((_, response) => {
    response.writeHead(413, { connection: "close" }).end("{}");
  });
  const refused = await refusalOf(blobs.put({ ...asked, size: SIZE }, inPieces(FILM)));
  expect(refused.status).toBe(413);
  close();
});

test("an upload whose source fails is aborted, and fails with that error", async () => {
  const broken = Promise.withResolvers<unknown>();
  const { blobs, close } = await served((request) => {
    request.on("error", broken.resolve).resume();
  });
  async function* failing(): AsyncIterable<Uint8Array> {
    yield FILM.subarray(0, 100_000);
    throw new WaybillError(422, "The file has changed.");
  }
  const put = blobs.put({ ...asked, size: SIZE }, failing());
  await expect(put).rejects.toMatchObject({ status: 422, message: "The file has changed." });
  await broken.promise;
  close();
});

test("an aborted read closes its connection, before the answer and in the middle of it", async () => {
  const cuts: Promise<void>[] = [];
  const { blobs, close } = await served((request, response) => {
    const cut = Promise.withResolvers<void>();
    request.socket.once("close", () => cut.resolve());
    cuts.push(cut.promise);
    if (cuts.length > 1) return;
    response.writeHead(200, { "content-length": SIZE }).write(FILM.subarray(0, 1_000));
  });
  const first = new AbortController();
  const { bytes } = await blobs.read({ ...asked, signal: first.signal });
  const pieces = bytes[Symbol.asyncIterator]();
  expect((await pieces.next()).value).toHaveLength(1_000);
  const next = refusalOf(pieces.next());
  first.abort();
  expect((await next).status).toBe(503);
  const second = new AbortController();
  const reading = refusalOf(blobs.read({ ...asked, signal: second.signal }));
  await expect.poll(() => cuts.length).toBe(2);
  second.abort();
  expect((await reading).status).toBe(503);
  await Promise.all(cuts);
  close();
});

test("a range other than the requested one is refused", async () => {
  const { blobs, close } = await served((_, response) => {
    response.writeHead(200, { "content-length": SIZE }).end(FILM);
  });
  const { status, message } = await refusalOf(blobs.read({ ...asked, first: 7 }));
  expect([status, message]).toEqual([
    500,
    expect.stringMatching(/does not return the requested part/),
  ]);
  close();
});

test("a closed connection aborts its transfers", async () => {
  const begun = Promise.withResolvers<void>();
  const { blobs, close } = await served(() => begun.resolve());
  const put = refusalOf(blobs.put({ ...asked, size: SIZE }, inPieces(FILM)));
  await begun.promise;
  close();
  expect((await put).message).toBe("Closed here.");
  expect((await refusalOf(blobs.upload(asked))).message).toBe("Closed here.");
});

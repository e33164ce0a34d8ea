/// <reference types="node" />
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { once } from "node:events";
import type { Digest } from "@waybill/protocol";
import { blobPath, blobUploadPath } from "@waybill/protocol/wire";
import { afterEach, describe, expect, test } from "vitest";
import { blobArtifact, digestOfAll, someBytes } from "./blobs-fixture.ts";
import { ask, asConsole, asOperator, consoleSession, openWorld } from "./served-fixture.ts";
import type { Party, World, WorldOptions } from "./served-fixture.ts";
import { RawConnection, requestText } from "./http/raw-fixture.ts";

const FILM = someBytes(300_000);
const DIGEST = digestOfAll(FILM);

const open: World[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});

async function worldWith(options: WorldOptions = {}) {
  const world = await openWorld(options);
  open.push(world);
  return { world, owner: await world.party("owner") };
}

interface Sent {
  readonly bytes?: Uint8Array;
  readonly range?: string;
  readonly digest?: Digest;
  readonly headers?: Record<string, string>;
}

/** Uploads as an agent without the SDK would. */
async function put(world: World, party: Party, sent: Sent = {}) {
  const { bytes = FILM, range, digest = DIGEST, headers } = sent;
  const path = blobPath(digest);
  const response = await fetch(world.url + path, {
    method: "PUT",
    body: bytes as Uint8Array<ArrayBuffer>,
    headers: {
      authorization: party.proof(path, "PUT"),
      ...(range !== undefined && { "content-range": range }),
      ...headers,
    },
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function get(
  world: World,
  party: Party,
  headers: Record<string, string> = {},
  method = "GET",
) {
  const path = blobPath(DIGEST);
  const authorization = party.proof(path, method);
  const response = await fetch(world.url + path, {
    method,
    headers: { authorization, ...headers },
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

async function uploadOf(party: Party, digest: Digest = DIGEST) {
  return (await party.ask(blobUploadPath(digest))).json as object;
}

/** Begins an upload and stops in the middle of it. */
async function begin(
  world: World,
  party: Party,
  bytes: Uint8Array,
  digest: Digest = DIGEST,
): Promise<RawConnection> {
  const path = blobPath(digest);
  const connection = await RawConnection.open(world.url);
  connection.write(
    requestText(
      `PUT ${path}`,
      `Authorization: ${party.proof(path, "PUT")}`,
      `Content-Length: ${FILM.length}`,
    ),
  );
  connection.socket.write(bytes);
  return connection;
}

async function until(party: Party, received: number, digest?: Digest): Promise<void> {
  while (((await uploadOf(party, digest)) as { received: number }).received < received) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a blob is uploaded in one request, and read as a whole, in part, and by size", async () => {
  const { world, owner } = await worldWith();
  expect(await put(world, owner)).toEqual({
    status: 201,
    json: { received: FILM.length, size: FILM.length, complete: true },
  });
  const whole = await get(world, owner);
  expect(whole.status).toBe(200);
  expect(whole.bytes).toEqual(FILM);
  expect(whole.headers.get("content-length")).toBe(String(FILM.length));
  const part = await get(world, owner, { range: "bytes=1000-1999" });
  expect(part.status).toBe(206);
  expect(part.headers.get("content-range")).toBe(`bytes 1000-1999/${FILM.length}`);
  expect(part.bytes).toEqual(FILM.subarray(1_000, 2_000));
  expect((await get(world, owner, { range: `bytes=${FILM.length}-` })).status).toBe(400);
  const head = await get(world, owner, {}, "HEAD");
  expect(head.status).toBe(200);
  expect(head.headers.get("content-length")).toBe(String(FILM.length));
  // A browser must neither show nor run an uploaded blob as a page of the hub.
  expect(whole.headers.get("x-content-type-options")).toBe("nosniff");
  expect(whole.headers.get("content-disposition")).toBe("attachment");
});

test("the metrics report the space of blobs, and the bytes received", async () => {
  const { world, owner } = await worldWith();
  await put(world, owner);
  const part = { bytes: FILM.subarray(0, 10), range: "bytes 0-9/5000" };
  await put(world, owner, { ...part, digest: digestOfAll(FILM.subarray(0, 5_000)) });
  const { text } = await ask(`${world.url}/metrics`);
  expect(text).toMatch(/^waybill_blob_bytes 365536$/m);
  expect(text).toMatch(/^waybill_blob_uploads 1$/m);
  expect(text).toMatch(/^waybill_blob_received_bytes_total 300010$/m);
});

test("a blob is uploaded in parts, whatever its content type", async () => {
  const { world, owner } = await worldWith();
  const first = FILM.subarray(0, 100_000);
  const part = { bytes: first, range: `bytes 0-99999/${FILM.length}` };
  expect(
    await put(world, owner, { ...part, headers: { "content-type": "application/json" } }),
  ).toEqual({
    status: 202,
    json: { received: 100_000, size: FILM.length, complete: false },
  });
  expect(await uploadOf(owner)).toMatchObject({ received: 100_000, complete: false });
  const gap = await put(world, owner, {
    bytes: FILM.subarray(100_001),
    range: `bytes 100001-299999/${FILM.length}`,
  });
  expect(gap).toMatchObject({ status: 409, json: { waybill_status: 409, received: 100_000 } });
  const rest = { bytes: FILM.subarray(100_000), range: `bytes 100000-299999/${FILM.length}` };
  expect((await put(world, owner, rest)).status).toBe(201);
  expect((await get(world, owner)).bytes).toEqual(FILM);
});

test("bytes that arrived before a connection broke are kept, and the upload resumes", async () => {
  const { world, owner } = await worldWith();
  const connection = await begin(world, owner, FILM.subarray(0, 50_000));
  await until(owner, 50_000);
  connection.close();
  const rest = { bytes: FILM.subarray(50_000), range: `bytes 50000-299999/${FILM.length}` };
  expect((await put(world, owner, rest)).status).toBe(201);
});

test("a silent upload is closed, and does not keep another one from resuming", async () => {
  const limits = { uploadWindowMs: 50 };
  const { world, owner } = await worldWith({ serve: { limits } });
  const connection = await begin(world, owner, FILM.subarray(0, 40_000));
  await connection.closed;
  expect(await uploadOf(owner)).toMatchObject({ received: 40_000 });
  const { text } = await ask(`${world.url}/metrics`);
  expect(text).toMatch(/_hits_total\{budget="uploadWindowMs"\} 1$/m);
});

test("an agent uploads as fast as its budget allows, and other requests do not wait for that", async () => {
  const limits = { uploadBytesPerAgent: 200_000 };
  const { world, owner } = await worldWith({ serve: { limits } });
  const uploading = put(world, owner);
  await until(owner, 1);
  expect((await owner.ask("/v1/dead-letters")).status).toBe(200);
  expect((await uploading).status).toBe(201);
  const { text } = await ask(`${world.url}/metrics`);
  expect(text).toMatch(/_hits_total\{budget="uploadBytesPerAgent"\} [1-9]/);
});

test.each(["uploadBytesPerAddress", "uploadBytesPerHub"] as const)(
  "all agents together upload as fast as a common budget allows: %s",
  async (budget) => {
    const { world, owner } = await worldWith({ serve: { limits: { [budget]: 300_000 } } });
    const other = await world.party("other");
    const uploads = await Promise.all([put(world, owner), put(world, other)]);
    expect(uploads.map(({ status }) => status)).toEqual([201, 201]);
    const { text } = await ask(`${world.url}/metrics`);
    expect(text).toMatch(new RegExp(`_hits_total\\{budget="${budget}"\\} [1-9]`));
  },
);

test("if too many uploads are under way, the slowest one of the agent with the most is closed", async () => {
  const { world, owner } = await worldWith({ serve: { limits: { uploadsPerHub: 2 } } });
  const other = await world.party("other");
  const slow = await begin(world, owner, FILM.subarray(0, 10));
  await until(owner, 10);
  const song = digestOfAll(someBytes(5));
  const quick = await begin(world, owner, FILM.subarray(0, 40_000), song);
  await until(owner, 40_000, song);
  for (;;) {
    const { status, json } = await put(world, other);
    if (status === 201) break;
    expect(status).toBe(503);
    expect(json.detail).toContain("Agents are uploading 2 blobs at once");
  }
  await slow.closed;
  expect(quick.isOpen).toBe(true);
  expect(await uploadOf(owner)).toMatchObject({ received: 10 });
});

test("bytes being received count as held for their agent", async () => {
  const limits = { heldBytesPerHub: 100_000, uploadBytesPerAgent: 50_000 };
  const { world, owner } = await worldWith({ serve: { limits } });
  const uploads = [5, 6, 7, 8].map((seed) =>
    begin(world, owner, FILM, digestOfAll(someBytes(seed))),
  );
  await Promise.race((await Promise.all(uploads)).map(({ closed }) => closed));
  const { text } = await ask(`${world.url}/metrics`);
  expect(text).toMatch(/_hits_total\{budget="heldBytesPerHub"\} [1-9]/);
});

describe("refusals", () => {
  test("bytes of another digest: 400, and nothing is kept", async () => {
    const { world, owner } = await worldWith();
    const digest = digestOfAll(someBytes(10));
    const refused = await put(world, owner, { digest });
    expect(refused).toMatchObject({ status: 400, json: { waybill_status: 400 } });
    const upload = await owner.ask(blobUploadPath(digest));
    expect(upload.json).toEqual({ received: 0, complete: false });
  });

  test("an upload without a length, or with two different ones: 400", async () => {
    const { world, owner } = await worldWith();
    const path = blobPath(DIGEST);
    const authorization = `Authorization: ${owner.proof(path, "PUT")}`;
    const chunked = await RawConnection.open(world.url);
    chunked.write(requestText(`PUT ${path}`, authorization, "Transfer-Encoding: chunked"));
    chunked.write("3\r\nabc\r\n0\r\n\r\n");
    await chunked.until("Content-Length");
    expect(chunked.received).toMatch(/^HTTP\/1.1 400 /);
    chunked.close();
    const shorter = await RawConnection.open(world.url);
    shorter.write(
      requestText(
        `PUT ${path}`,
        `Authorization: ${owner.proof(path, "PUT")}`,
        "Content-Range: bytes 0-8/10",
        "Content-Length: 10",
      ),
    );
    await shorter.until("waybill_status");
    expect(shorter.received).toMatch(/^HTTP\/1.1 400 /);
    shorter.close();
    expect((await put(world, owner, { range: "bytes 9-8/10" })).status).toBe(400);
  });

  test("a part that is longer than announced: 400", async () => {
    const { world, owner } = await worldWith();
    const path = blobPath(DIGEST);
    const connection = await RawConnection.open(world.url);
    connection.write(
      requestText(
        `PUT ${path}`,
        `Authorization: ${owner.proof(path, "PUT")}`,
        `Content-Range: bytes 0-2/${FILM.length}`,
        "Transfer-Encoding: chunked",
      ),
    );
    connection.write("4\r\nabcd\r\n0\r\n\r\n");
    await connection.until("waybill_status");
    expect(connection.received).toMatch(/^HTTP\/1.1 400 /);
    connection.close();
    expect(await uploadOf(owner)).toMatchObject({ received: 3 });
  });

  test("a proof with a body_digest, for another path, or of an unknown agent: 401", async () => {
    const { world, owner } = await worldWith();
    const path = blobPath(DIGEST);
    const wrong = [
      owner.proof(path, "PUT", "abc"),
      owner.proof(`${path}/upload`, "PUT"),
      owner.proof(path, "GET"),
    ];
    for (const authorization of wrong) {
      expect((await put(world, owner, { headers: { authorization } })).status).toBe(401);
    }
    expect((await ask(world.url + path, { method: "PUT", body: "abc" })).status).toBe(401);
  });

  test("a blob over the limit: 413, without asking for the body", async () => {
    const { world, owner } = await worldWith({ hub: { limits: { blobBytes: 1_000 } } });
    const path = blobPath(DIGEST);
    const asked = request(world.url + path, {
      method: "PUT",
      headers: {
        authorization: owner.proof(path, "PUT"),
        "content-length": FILM.length,
        expect: "100-continue",
      },
    });
    asked.flushHeaders();
    let isAskedForBody = false;
    asked.on("continue", () => (isAskedForBody = true));
    const [response] = (await once(asked, "response")) as [{ statusCode: number }];
    expect(response.statusCode).toBe(413);
    expect(isAskedForBody).toBe(false);
    asked.destroy();
  });

  test("an upload with Expect: 100-continue arrives completely", async () => {
    const { world, owner } = await worldWith();
    const path = blobPath(DIGEST);
    const asked = request(world.url + path, {
      method: "PUT",
      headers: {
        authorization: owner.proof(path, "PUT"),
        "content-length": FILM.length,
        expect: "100-continue",
      },
    });
    asked.flushHeaders();
    await once(asked, "continue");
    asked.end(FILM);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(201);
    response.resume();
  });

  test("more uploads than an agent may have at once: 429, without affecting others", async () => {
    const hub = { limits: { blobUploads: 1 } };
    const { world, owner } = await worldWith({ hub });
    const other = await world.party("other");
    const begun = await begin(world, owner, FILM.subarray(0, 10));
    await until(owner, 10);
    const part = { bytes: FILM.subarray(0, 10), range: `bytes 0-9/${FILM.length}` };
    const second = { ...part, digest: digestOfAll(someBytes(5)) };
    expect(await put(world, owner, second)).toMatchObject({ status: 429 });
    expect((await put(world, other, part)).status).toBe(202);
    begun.close();
    expect((await put(world, owner)).status).toBe(201);
  });

  test("a stalled upload makes room for the next one of its agent", async () => {
    const hub = { limits: { blobUploads: 2 } };
    const { world, owner } = await worldWith({ hub });
    const digests = [DIGEST, ...[5, 6].map((size) => digestOfAll(someBytes(size)))];
    const part = { bytes: FILM.subarray(0, 10), range: `bytes 0-9/${FILM.length}` };
    for (const digest of digests.slice(0, 2)) await put(world, owner, { ...part, digest });
    // The first one resumes, so the second one is the oldest.
    const next = { bytes: FILM.subarray(10, 20), range: `bytes 10-19/${FILM.length}` };
    await put(world, owner, next);
    expect((await put(world, owner, { ...part, digest: digests[2]! })).status).toBe(202);
    const received = async (digest: Digest) => (await owner.ask(blobUploadPath(digest))).json;
    expect(await Promise.all(digests.map(received))).toMatchObject([
      { received: 20 },
      { received: 0 },
      { received: 10 },
    ]);
  });

  test("more bytes than an agent may keep: 429; than the hub keeps: 503", async () => {
    const hub = { limits: { blobBytesPerAgent: 400_000, blobBytesPerHub: 700_000 } };
    const { world, owner } = await worldWith({ hub });
    const [other, third] = [await world.party("other"), await world.party("third")];
    expect((await put(world, owner)).status).toBe(201);
    const more = someBytes(200_000, 9);
    const second = { bytes: more, digest: digestOfAll(more) };
    expect(await put(world, owner, second)).toMatchObject({ status: 429 });
    expect((await put(world, other, second)).status).toBe(201);
    expect(await put(world, third)).toMatchObject({ status: 503 });
  });
});

test("an agent that may not read a blob gets the same answer whether the blob exists or not", async () => {
  const { world, owner } = await worldWith();
  const other = await world.party("other");
  const before = await get(world, other);
  await put(world, owner);
  const after = await get(world, other);
  expect(after.status).toBe(403);
  expect(Buffer.from(after.bytes).toString()).toBe(Buffer.from(before.bytes).toString());
  const { text } = owner.handoff("owner", {
    body: { capability: "work", artifacts: [blobArtifact(FILM)] },
  });
  expect((await owner.submit(text)).status).not.toBe(403);
});

test("operators read the blobs of every handoff, and write none", async () => {
  const { world, owner } = await worldWith();
  await put(world, owner);
  const path = blobPath(DIGEST);
  const headers = asOperator(world.served, path);
  const response = await fetch(world.url + path, { headers });
  expect(Buffer.from(await response.arrayBuffer()).equals(FILM)).toBe(true);
  const session = await consoleSession(world.served, "reader");
  const part = await fetch(world.url + path, {
    headers: { ...asConsole(world.served, session, path), range: "bytes=10-19" },
  });
  expect(part.status).toBe(206);
  expect(Buffer.from(await part.arrayBuffer()).equals(FILM.subarray(10, 20))).toBe(true);

  const missing = blobPath(digestOfAll(someBytes(10, 7)));
  const refused = await ask(world.url + missing, { headers: asOperator(world.served, missing) });
  expect(refused).toMatchObject({
    status: 404,
    json: { detail: expect.stringContaining("deletes them") },
  });
  const written = await fetch(world.url + path, {
    method: "PUT",
    body: FILM as Uint8Array<ArrayBuffer>,
    headers: asOperator(world.served, path, { method: "PUT" }),
  });
  expect(written.status).toBe(403);
});

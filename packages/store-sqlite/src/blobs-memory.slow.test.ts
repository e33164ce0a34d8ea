/// <reference types="node" />
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { generateKey, newId, privateKeyFrom, signManifest } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { blobPath, signRequest } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { blobFolderOf } from "./file-blobs.ts";
import { locate, remove } from "./store-fixture.ts";

const HUB = new URL("served-process-fixture.ts", import.meta.url).pathname;
const PIECE_BYTES = 1024 * 1024;
const PIECES = 1024;
const SIZE = PIECE_BYTES * PIECES;
/** What buffers, threads and garbage may add, whatever the size of the blob. */
const MORE_BYTES = 160 * 1024 * 1024;

/** A gibibyte that is generated a mebibyte at a time, no two of them the same. */
function* film(): Generator<Buffer> {
  for (let number = 0; number < PIECES; number++) {
    const piece = Buffer.alloc(PIECE_BYTES, "film");
    piece.writeUInt32BE(number);
    yield piece;
  }
}

/** The peak memory of a process. */
function peakOf(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kilobytes) * 1024;
}

test("a hub takes a blob of 1 GiB and returns it without holding it in memory", async ({
  skip,
}) => {
  skip(!existsSync("/proc/self/status"), "no /proc on this machine");
  const path = await locate();
  const [seed, key] = [Buffer.alloc(32, 7), generateKey()];
  const hub = spawn(process.execPath, [HUB, path, seed.toString("hex"), "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [port] = (await once(hub.stdout, "data")) as [Buffer];
    const url = `http://127.0.0.1:${port.toString().trim()}`;
    const manifest = signManifest({ agent_id: "owner", capabilities: [] }, key);
    const enrolled = await fetch(`${url}/v1/agents/owner`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ manifest }),
    });
    expect(enrolled.status).toBe(200);
    const hash = createHash("sha256");
    for (const piece of film()) hash.update(piece);
    const digest: Digest = `sha256:${hash.digest("hex")}`;
    const before = peakOf(hub.pid!);
    const ask = (method: "PUT" | "GET", more: Record<string, number> = {}) => {
      const claim = {
        from: "owner",
        to: "hub",
        domain: privateKeyFrom(seed).kid,
        id: newId(),
        at: Date.now(),
        method,
        path: blobPath(digest),
      };
      const headers = { authorization: signRequest(claim, key), ...more };
      return request(url + blobPath(digest), { method, headers });
    };
    const uploading = ask("PUT", { "content-length": SIZE });
    const answered = once(uploading, "response") as Promise<[IncomingMessage]>;
    for (const piece of film()) if (!uploading.write(piece)) await once(uploading, "drain");
    uploading.end();
    const [uploaded] = await answered;
    expect(uploaded.statusCode).toBe(201);
    uploaded.resume();
    const [file] = await readdir(blobFolderOf(path));
    expect(statSync(join(blobFolderOf(path), file!)).size).toBe(SIZE);
    const reading = ask("GET");
    reading.end();
    const [response] = (await once(reading, "response")) as [IncomingMessage];
    const read = createHash("sha256");
    for await (const piece of response) read.update(piece as Buffer);
    expect(`sha256:${read.digest("hex")}`).toBe(digest);
    expect(peakOf(hub.pid!) - before).toBeLessThan(MORE_BYTES);
  } finally {
    const gone = once(hub, "exit");
    hub.kill("SIGKILL");
    await gone;
    await remove(path);
  }
});

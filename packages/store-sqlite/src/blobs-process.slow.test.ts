/// <reference types="node" />
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { generateKey, newId, privateKeyFrom, signManifest } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { blobPath, blobUploadPath, signRequest } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { locate, remove } from "./store-fixture.ts";

const HUB = new URL("served-process-fixture.ts", import.meta.url).pathname;
const FILM = Buffer.alloc(3_000_000, "a film, ");
const DIGEST: Digest = `sha256:${createHash("sha256").update(FILM).digest("hex")}`;

let path: string;
beforeEach(async () => {
  path = await locate();
});
afterEach(() => remove(path));

/** A hub in a process of its own, and an agent that uploads to it. */
class Served {
  readonly #seed = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
  readonly #key = generateKey();
  #child: ReturnType<typeof spawn> | undefined;
  #port = "0";

  /** `kilobytes`: the largest size of the hub's files, as if the disk were full. */
  async start(kilobytes?: number): Promise<void> {
    const ulimit = kilobytes === undefined ? "" : `ulimit -f ${kilobytes}; `;
    const seed = this.#seed.toString("hex");
    const command = `${ulimit}exec "$0" "$@"`;
    const parameters = ["-c", command, process.execPath, HUB, path, seed, this.#port];
    const child = spawn("bash", parameters, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    this.#port = port.toString().trim();
  }

  async kill(): Promise<void> {
    const gone = once(this.#child!, "exit");
    this.#child!.kill("SIGKILL");
    await gone;
  }

  async enrol(): Promise<void> {
    const manifest = signManifest({ agent_id: "owner", capabilities: [] }, this.#key);
    const response = await fetch(`${this.#url}/v1/agents/owner`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ manifest }),
    });
    expect(response.status).toBe(200);
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  proof(method: string, at: string): string {
    const { kid: domain } = privateKeyFrom(this.#seed);
    const claim = {
      from: "owner",
      to: "hub",
      domain,
      id: newId(),
      at: Date.now(),
      method,
      path: at,
    };
    return signRequest(claim, this.#key);
  }

  async put(
    bytes: Uint8Array,
    from = 0,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const at = blobPath(DIGEST);
    const response = await fetch(this.#url + at, {
      method: "PUT",
      body: bytes as Uint8Array<ArrayBuffer>,
      headers: {
        authorization: this.proof("PUT", at),
        "content-range": `bytes ${from}-${from + bytes.length - 1}/${FILM.length}`,
      },
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  async received(): Promise<number> {
    const at = blobUploadPath(DIGEST);
    const response = await fetch(this.#url + at, {
      headers: { authorization: this.proof("GET", at) },
    });
    return ((await response.json()) as { received: number }).received;
  }

  /** Begins an upload that never ends. */
  begin(): ReturnType<typeof request> {
    const at = blobPath(DIGEST);
    const asked = request(this.#url + at, {
      method: "PUT",
      headers: { authorization: this.proof("PUT", at), "content-length": FILM.length },
    });
    asked.on("error", () => undefined);
    return asked;
  }

  async get(): Promise<Buffer> {
    const at = blobPath(DIGEST);
    const response = await fetch(this.#url + at, {
      headers: { authorization: this.proof("GET", at) },
    });
    return Buffer.from(await response.arrayBuffer());
  }
}

test("an upload resumes after its hub was killed", async () => {
  const served = new Served();
  await served.start();
  await served.enrol();
  for (let kills = 0; kills < 3; kills++) {
    const from = await served.received();
    const asked = served.begin();
    asked.write(FILM.subarray(0, 400_000 * (kills + 1)));
    while ((await served.received()) <= from) await new Promise((resolve) => setImmediate(resolve));
    await served.kill();
    await served.start();
  }
  const received = await served.received();
  expect(received).toBeGreaterThan(0);
  expect((await served.put(FILM.subarray(received), received)).status).toBe(201);
  expect((await served.get()).equals(FILM)).toBe(true);
  await served.kill();
  await served.start();
  expect((await served.get()).equals(FILM)).toBe(true);
  await served.kill();
});

test("a full disk is answered with 503, keeps what has arrived, and the upload resumes when there is space", async () => {
  // Large enough for the database, and not for the blob.
  const served = new Served();
  await served.start(2_000);
  await served.enrol();
  const refused = await served.put(FILM);
  expect(refused).toMatchObject({ status: 503, json: { waybill_status: 503, retryable: true } });
  const received = await served.received();
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThan(FILM.length);
  // Requests that are not about blobs keep working.
  await served.enrol();
  await served.kill();
  await served.start();
  expect(await served.received()).toBe(received);
  expect((await served.put(FILM.subarray(received), received)).status).toBe(201);
  expect((await served.get()).equals(FILM)).toBe(true);
  await served.kill();
});

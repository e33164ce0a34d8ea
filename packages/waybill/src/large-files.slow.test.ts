/// <reference types="node" />
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDev, Workplace } from "./waybill-fixture.ts";
import type { Dev, Running } from "./waybill-fixture.ts";

const MIB = 1024 * 1024;
const AGENT = new URL("large-file-fixture.ts", import.meta.url);

let place: Workplace;
let dev: Dev;
let worker: Running;
beforeAll(async () => {
  place = new Workplace();
  dev = await startDev(place);
  worker = place.startScript(AGENT, [dev.url, "takes", place.path("taken.bin")]);
  await worker.line();
});
afterAll(() => place.close());

async function fileOf(name: string, mebibytes: number): Promise<string> {
  const path = place.path(name);
  const file = createWriteStream(path);
  const block = Buffer.alloc(MIB);
  for (let index = 0; index < mebibytes; index++) {
    // No two blocks are equal, so that a swapped block is noticed.
    block.writeUInt32BE(index);
    if (!file.write(Buffer.from(block))) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
  return path;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of createReadStream(path)) hash.update(bytes as Uint8Array);
  return `sha256:${hash.digest("hex")}`;
}

interface Said {
  readonly from?: number;
  readonly halfway?: boolean;
  readonly output?: { readonly digest: string; readonly rss: number };
  /** The peak, in KiB. */
  readonly rss: number;
}

/** Sends a file there and back; returns the messages on the way and at the end. */
async function sent(path: string, halfway: () => Promise<void> = async () => undefined) {
  const owner = place.startScript(AGENT, [dev.url, "sends", path]);
  const firsts: number[] = [];
  for (;;) {
    const said = JSON.parse(await owner.line()) as Said;
    if (said.from !== undefined) firsts.push(said.from);
    if (said.halfway === true) await halfway();
    if (said.output === undefined) continue;
    expect(said.output.digest).toBe(await digestOf(path));
    expect(await digestOf(`${path}.back`)).toBe(said.output.digest);
    expect((await owner.ended()).code).toBe(0);
    return { firsts, owner: said.rss, worker: said.output.rss };
  }
}

test("an upload resumes after the hub is killed, and both sides use little memory", async () => {
  const before = await sent(await fileOf("small.bin", 1));
  const path = await fileOf("large.bin", 300);
  const port = new URL(dev.url).port;
  let kills = 0;
  const { firsts, ...after } = await sent(path, async () => {
    if (kills++ > 0) return;
    await dev.stop("SIGKILL");
    dev = await startDev(place, ["--port", port]);
  });
  expect(firsts[0]).toBe(0);
  expect(firsts.at(-1)).toBeGreaterThan(0);
  expect(firsts.at(-1)).toBeLessThan(statSync(path).size);
  expect(after.owner - before.owner).toBeLessThan(128 * 1024);
  expect(after.worker - before.worker).toBeLessThan(128 * 1024);
}, 600_000);

/// <reference types="node" />
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readdirSync } from "node:fs";
import { createAgent } from "@waybill/agent";
import type { Blobs, Handler } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { generateKey, parseEnvelope, readCompact } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import { Workplace } from "./waybill-fixture.ts";
import type { Ran } from "./waybill-fixture.ts";

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const never = (): Promise<never> => new Promise(() => undefined);

/** The same hub with some behaviour replaced. */
function lying(hub: HubServer, instead: Partial<HubServer>): HubServer {
  return new Proxy(hub, {
    get(target, name) {
      if (Object.hasOwn(instead, name)) return instead[name as keyof HubServer];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A served hub with a working recipient, as a command meets it. */
async function servedBy(
  lie: (hub: HubServer) => Partial<HubServer>,
  handler: Handler = () => "done",
): Promise<string> {
  const store = memoryStore();
  const hub = await openHub({ store, key: generateKey() });
  const worker = createAgent({ id: "worker", key: generateKey(), hub });
  worker.serve("work", handler);
  await worker.start();
  const served = await serveHub({ hub: lying(hub, lie(hub)), store });
  endings.push(async () => {
    await worker.stop();
    await served.close();
    await hub.close();
  });
  return served.url;
}

async function send(url: string, timeout: string, ...more: string[]): Promise<Ran> {
  return (await sendFrom(url, timeout, ...more)).ran;
}

async function sendFrom(url: string, timeout: string, ...more: string[]) {
  const place = new Workplace();
  endings.push(() => place.close());
  const self = ["--agent", "editor", "--key", place.path("editor.key")];
  const words = ["send", "work", "--hub", url, ...self, "--timeout", timeout, ...more];
  return { ran: await place.run(words), folder: place.folder };
}

const UNREACHABLE = 3;
const UNTOLD = 7;

test("waybill send ends though the hub never returns a receipt", async () => {
  const url = await servedBy(() => ({ submit: never }));
  const { code, stdout, stderr } = await send(url, "1s");
  expect({ code, stdout }).toEqual({ code: UNTOLD, stdout: "" });
  expect(stderr).toContain("It is not known how the handoff ended.");
  expect(stderr).toContain("the hub has not reported how");
  expect(stderr).toMatch(/once the hub answers: waybill trace [0-9a-f-]{36}/);
  expect(stderr).not.toContain("ended without a result");
});

test("waybill send ends though the hub never reports the outcome", async () => {
  const url = await servedBy((hub) => ({
    attach: (request, handler) =>
      hub.attach(request, (delivery) => {
        if (request.agent !== "editor") handler(delivery);
      }),
  }));
  const { code, stdout, stderr } = await send(url, "1s");
  expect({ code, stdout }).toEqual({ code: UNTOLD, stdout: "" });
  expect(stderr).toContain("It is not known how the handoff ended.");
  expect(stderr).toContain("the hub has not reported how");
  expect(stderr).toMatch(/once the hub answers: waybill trace [0-9a-f-]{36}/);
  expect(stderr).not.toContain("ended without a result");
});

test("waybill send prints the result though the hub does not answer its acknowledgement", async () => {
  const url = await servedBy((hub) => ({
    submit(text) {
      const { kind, body } = parseEnvelope(readCompact(text).payload);
      const isThanks = kind === "receipt" && (body as { status?: number }).status === 200;
      return isThanks ? never() : hub.submit(text);
    },
  }));
  const { code, stdout } = await send(url, "60s", "--json");
  const last = JSON.parse(stdout.trim().split("\n").at(-1)!) as unknown;
  expect(code).toBe(0);
  expect(last).toMatchObject({ event: "result", output: "done", is_acknowledged: false });
});

const FILM = new Uint8Array(200_000).fill(7);

async function* inPieces(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}

/** A hub's response for a blob: the announced length, and the bytes it sends. */
interface Given {
  readonly lie: string;
  readonly size: number;
  readonly bytes: () => AsyncIterable<Uint8Array>;
  readonly told: RegExp;
}

const GIVEN: readonly Given[] = [
  {
    lie: "stalls in the middle of a file",
    size: FILM.length,
    async *bytes() {
      yield FILM.subarray(0, 1_000);
      await never();
    },
    told: /film\.mp4 was not read in time: 1000 of 200000 bytes came from the hub within the given time/,
  },
  {
    lie: "drips a file",
    size: FILM.length,
    async *bytes() {
      for (const byte of FILM) {
        yield Uint8Array.of(byte);
        await setTimeout(100);
      }
    },
    told: /film\.mp4 was not read in time: \d+ of 200000 bytes came from the hub within the given time/,
  },
  {
    lie: "gives a longer file",
    size: FILM.length + 1,
    bytes: () => inPieces(Buffer.concat([FILM, Uint8Array.of(7)])),
    told: /film\.mp4 was changed in transit/,
  },
  {
    lie: "gives another file",
    size: FILM.length,
    bytes: () => inPieces(FILM.map((byte) => byte ^ 1)),
    told: /film\.mp4 was changed in transit/,
  },
];

test.for(GIVEN)("waybill send --save ends though the hub $lie", async ({ size, bytes, told }) => {
  const url = await servedBy(
    (hub) => {
      const { blobs } = hub as { blobs: Blobs };
      const lied: Blobs = {
        put: blobs.put.bind(blobs),
        upload: blobs.upload.bind(blobs),
        read: async () => ({ size, bytes: bytes() }),
      };
      return { blobs: lied };
    },
    ({ result }) => result({ output: "done", artifacts: [{ name: "film.mp4", bytes: FILM }] }),
  );
  const began = Date.now();
  const { ran, folder } = await sendFrom(url, "2s", "--save", "out");
  expect(ran.stderr).toMatch(told);
  expect(ran.stderr).toContain("The hub keeps the result. To get it again: waybill send");
  expect(ran.stdout).toBe("");
  expect(ran.code).not.toBe(0);
  expect(readdirSync(join(folder, "out"))).toEqual([]);
  expect(Date.now() - began).toBeLessThan(30_000);
});

test("waybill send ends though the server never answers", async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  endings.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  const { code, stdout, stderr } = await send(`http://127.0.0.1:${port}`, "1s");
  expect({ code, stdout }).toEqual({ code: UNREACHABLE, stdout: "" });
  expect(stderr).toContain("has not answered");
});

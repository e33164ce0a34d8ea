/// <reference types="node" />
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { serveHub } from "@waybill/hub/served";
import { generateKey, parseEnvelope, readCompact } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import { Workplace } from "./waybill-fixture.ts";
import type { Ran } from "./waybill-fixture.ts";

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const never = (): Promise<never> => new Promise(() => undefined);

/** The same hub, but for what it does instead. */
function lying(hub: HubServer, instead: Partial<HubServer>): HubServer {
  return new Proxy(hub, {
    get(target, name) {
      if (Object.hasOwn(instead, name)) return instead[name as keyof HubServer];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A served hub with somebody who does the work, as a command meets it. */
async function servedBy(lie: (hub: HubServer) => Partial<HubServer>): Promise<string> {
  const store = memoryStore();
  const hub = await openHub({ store, key: generateKey() });
  const worker = createAgent({ id: "worker", key: generateKey(), hub });
  worker.serve("work", () => "done");
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
  const place = new Workplace();
  endings.push(() => place.close());
  const self = ["--agent", "editor", "--key", place.path("editor.key")];
  return place.run(["send", "work", "--hub", url, ...self, "--timeout", timeout, ...more]);
}

const UNREACHABLE = 3;
const UNTOLD = 7;

test("waybill send ends though the hub never signs for what it is handed", async () => {
  const url = await servedBy(() => ({ submit: never }));
  const { code, stdout, stderr } = await send(url, "1s");
  expect({ code, stdout }).toEqual({ code: UNTOLD, stdout: "" });
  expect(stderr).toContain("It is not known how the handoff ended.");
  expect(stderr).toContain("the hub has not told how");
  expect(stderr).toMatch(/once the hub answers: waybill trace [0-9a-f-]{36}/);
  expect(stderr).not.toContain("ended without a result");
});

test("waybill send ends though the hub never tells how it went", async () => {
  const url = await servedBy((hub) => ({
    attach: (request, handler) =>
      hub.attach(request, (delivery) => {
        if (request.agent !== "editor") handler(delivery);
      }),
  }));
  const { code, stdout, stderr } = await send(url, "1s");
  expect({ code, stdout }).toEqual({ code: UNTOLD, stdout: "" });
  expect(stderr).toContain("It is not known how the handoff ended.");
  expect(stderr).toContain("the hub has not told how");
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

test("waybill send ends though whoever listens there says nothing at all", async () => {
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

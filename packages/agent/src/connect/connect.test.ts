/// <reference types="node" />
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { memoryStore } from "@waybill/hub";
import { digestOfJws, generateKey, provenKey, signManifest } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import { createAgent } from "../agent.ts";
import { systemClock } from "@waybill/protocol/wire";
import type { Clock } from "@waybill/protocol/wire";
import { connect } from "./connect.ts";
import { Network } from "./served-fixture.ts";

let network: Network | undefined;

afterEach(async () => {
  await network?.close();
  network = undefined;
});

const text = (part: string): string => expect.stringContaining(part) as string;

test("work goes over the network and back, with progress, a question and its receipts", async () => {
  network = await Network.open();
  const worker = await network.agent("worker");
  worker.serve<string>("travel", async ({ input, progress, ask }) => {
    await progress({ fraction: 0.5 });
    return [input, await ask("By train?")];
  });
  await worker.start();
  const owner = await network.agent("owner");
  const handoff = owner.handoff({ capability: "travel", input: "to Rome", timeoutMs: 60_000 });
  expect(await handoff.custody).toMatchObject({ by: "hub" });
  expect(await handoff.accepted).toMatchObject({ by: "worker", attempt: 1 });
  for await (const question of handoff.questions) await handoff.answer(question.id, "yes");
  expect(await handoff.result).toMatchObject({ output: ["to Rome", "yes"], by: "worker" });
  const fractions: unknown[] = [];
  for await (const { fraction } of handoff.progress) fractions.push(fraction);
  expect(fractions).toEqual([0.5]);
});

test("WB-100 which agents refuse an input, and why, is reported over socket and HTTP", async () => {
  network = await Network.open();
  const worker = await network.agent("worker");
  worker.serve({ name: "travel", input_schema: { to: "string" } }, () => "there");
  await worker.start();
  const refusals = [
    {
      agent_id: "worker",
      capability: "travel",
      version: "1",
      issues: [{ at: "/to", message: text("string") }],
    },
  ];
  const owner = await network.agent("owner");
  const handoff = owner.handoff({ capability: "travel", input: { to: 7 } });
  await expect(handoff.custody).rejects.toMatchObject({ status: 422, refusals });
  const response = await fetch(`${network.url}/v1/envelopes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ envelope: handoff.text }),
  });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ waybill_status: 422, at: "/body/input", refusals });
});

test("queries to a hub are answered before an agent has attached and afterwards", async () => {
  network = await Network.open();
  const worker = await network.agent("worker");
  worker.serve({ name: "travel", tags: ["train"] }, () => "there");
  await worker.start();
  const hub = await network.connect();
  const found = await hub.find({ capability: "travel" });
  expect(found.fits).toMatchObject([{ agent_id: "worker" }]);
  expect(await hub.manifests({ agent: "worker" })).toEqual(
    await network.hub.manifests({ agent: "worker" }),
  );
  expect(await hub.manifests({ agent: "nobody" })).toEqual({ manifests: [] });

  const owner = createAgent({ id: "owner", key: generateKey(), hub });
  const handoff = owner.handoff({ capability: "travel", timeoutMs: 60_000 });
  await handoff.result;
  expect(await hub.find({ capability: "travel" })).toMatchObject({
    fits: [{ agent_id: "worker", capability: { tags: ["train"] } }],
    leftOut: [],
  });
  const newest = { agent: "worker", newest: true };
  expect(await hub.manifests(newest)).toEqual(await network.hub.manifests(newest));
  expect(await hub.handoff(handoff.id, "owner")).toMatchObject({
    id: handoff.id,
    state: "completed",
    attempts: [{ number: 1, recipient: "worker", closed: "result" }],
  });
  await owner.stop();
});

test("several agents in one process each get their own deliveries", async () => {
  network = await Network.open();
  const hub = await network.connect();
  const workers = ["anna", "bert"].map((id) => {
    const agent = createAgent({ id, key: generateKey(), hub });
    agent.serve<number>("double", ({ input }) => [id, 2 * input]);
    return agent;
  });
  await Promise.all(workers.map((agent) => agent.start()));
  const owner = createAgent({ id: "owner", key: generateKey(), hub });
  const results = ["anna", "bert", "anna", "bert"].map(async (to, input) => {
    const handoff = owner.handoff({ to, capability: "double", input, timeoutMs: 60_000 });
    return (await handoff.result).output;
  });
  expect(await Promise.all(results)).toEqual([
    ["anna", 0],
    ["bert", 2],
    ["anna", 4],
    ["bert", 6],
  ]);
  await Promise.all([owner, ...workers].map((agent) => agent.stop()));
});

test("connect waits for a hub that is not up yet", async () => {
  network = await Network.open();
  const port = await network.down();
  const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
  const connecting = connect(`http://127.0.0.1:${port}`, {
    timeoutMs: 60_000,
    log: ({ event }) => event === "waiting" && resolve(),
  });
  await isWaiting;
  await network.up(network.key, network.store, port);
  const hub = await connecting;
  expect(hub.id).toBe("hub");
  await hub.close();
});

test("a rate-limited query is repeated later", async () => {
  network = await Network.open();
  const { url, hub } = network;
  let refusals = 2;
  const server = createHttpServer((request, response) => {
    if (refusals-- > 0) return void response.writeHead(429).end();
    void fetch(url + request.url!)
      .then((answer) => answer.text())
      .then((answer) => response.end(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connected = await connect(`http://127.0.0.1:${port}`, { timeoutMs: 60_000 });
  expect(connected.id).toBe(hub.id);
  await connected.close();
  server.close();
});

test("a hub that does not come up is a 503, and a signal ends the wait earlier", async () => {
  network = await Network.open();
  const url = network.url;
  const port = await network.down();
  await expect(connect(url, { timeoutMs: 50 })).rejects.toMatchObject({
    status: 503,
    message: text(url),
  });
  const controller = new AbortController();
  const connecting = connect(url, {
    timeoutMs: 60_000,
    signal: controller.signal,
    log: () => controller.abort(new Error("enough")),
  });
  await expect(connecting).rejects.toThrow("enough");
  await network.up(network.key, network.store, port);
});

test("connect gives up a server that accepts connections and never answers", async () => {
  const server = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connecting = connect(`http://127.0.0.1:${port}`, { timeoutMs: 50 });
  await expect(connecting).rejects.toMatchObject({ status: 503 });
  server.close();
});

test("a pinned key must be the hub's key", async () => {
  network = await Network.open();
  const other = generateKey();
  await expect(connect(network.url, { hubKey: other.kid })).rejects.toMatchObject({
    status: 401,
    message: text("THIS IS NOT THE PINNED HUB"),
  });
  const hub = await network.connect(network.url, { hubKey: network.key.kid });
  expect(hub.id).toBe("hub");

  // The hub rotates its key: while it lists both, either may be pinned.
  const last = (await network.hub.manifests({ agent: "hub" })).manifests[0]!.text;
  const both = [network.key.jwk, provenKey("hub", other)];
  const next = { agent_id: "hub", capabilities: [], sequence: 2, previous: digestOfJws(last) };
  await network.hub.publish(signManifest({ ...next, keys: both }, network.key));
  await network.connect(network.url, { hubKey: network.key.kid });
  await network.connect(network.url, { hubKey: other.kid });
});

test("a hub whose key has changed is refused, also when agents reconnect", async () => {
  network = await Network.open();
  const worker = await network.agent("worker");
  worker.serve("travel", () => new Promise(() => undefined));
  await worker.start();
  const hub = await network.connect();
  const owner = createAgent({ id: "owner", key: generateKey(), hub });
  const handoff = owner.handoff({ capability: "travel", timeoutMs: 60_000 });
  await handoff.accepted;
  const port = await network.down();
  await network.up(generateKey(), memoryStore(), port);
  await expect(handoff.result).rejects.toMatchObject({
    status: 503,
    message: text("THE HUB HAS CHANGED"),
    cause: { status: 401 },
  });
  await expect(hub.manifests({ agent: "hub" })).rejects.toMatchObject({
    status: 401,
    message: text("THE HUB HAS CHANGED"),
  });
  await owner.stop();
});

test("the error of an agent that is refused for its clock names the clock", async () => {
  network = await Network.open();
  const hub = await network.connect();
  const behindMs = 10 * 60_000;
  const { now, setTimer } = systemClock();
  const late: Clock = {
    now: () => now() - behindMs,
    setTimer: (at, callback) => setTimer(at + behindMs, callback),
  };
  const agent = createAgent({ id: "late", key: generateKey(), hub, clock: late });
  await expect(agent.start()).rejects.toMatchObject({ status: 401, message: text("clock") });
});

test("the error of an agent whose name is taken names the key it used", async () => {
  network = await Network.open();
  const anna = await network.agent("anna");
  await anna.start();
  const other = createAgent({ id: "anna", key: generateKey(), hub: await network.connect() });
  await expect(other.start()).rejects.toMatchObject({
    status: 401,
    message: text("KEY HAS CHANGED"),
  });
});

test("when two processes run one agent, the older one is told that it was replaced", async () => {
  network = await Network.open();
  const key = generateKey();
  const worker = await network.agent("worker");
  worker.serve("travel", () => new Promise(() => undefined));
  await worker.start();
  const first = createAgent({ id: "owner", key, hub: await network.connect() });
  const handoff = first.handoff({ capability: "travel", timeoutMs: 60_000 });
  await handoff.accepted;
  const second = createAgent({ id: "owner", key, hub: await network.connect() });
  await second.start();
  await expect(handoff.result).rejects.toMatchObject({
    status: 503,
    message: text("Another process has attached as owner"),
    cause: { status: 409 },
  });
  await Promise.all([first.stop(), second.stop()]);
});

test("a closed connection sends no queries and does not reconnect", async () => {
  network = await Network.open();
  const hub = await network.connect();
  const events: string[] = [];
  const agent = createAgent({
    id: "anna",
    key: generateKey(),
    hub,
    log: ({ event }) => events.push(event),
  });
  await agent.start();
  await hub.close();
  const closed = { status: 503, message: text("was closed here") };
  await expect(hub.find({ capability: "travel" })).rejects.toMatchObject(closed);
  await expect(hub.submit("x")).rejects.toMatchObject(closed);
  await expect(hub.challenge!()).rejects.toMatchObject(closed);
  expect(events).toEqual(["attached", "detached"]);
  await agent.stop();
});

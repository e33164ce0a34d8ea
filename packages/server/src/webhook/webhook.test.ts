/// <reference types="node" />
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { generateKey, signManifest } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import type { Delivery } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { BUDGETS } from "../budgets.ts";
import { ask, openWorld, Party } from "../served-fixture.ts";
import type { Signed, World, WorldOptions } from "../served-fixture.ts";
import { Inbox } from "./inbox-fixture.ts";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function world(
  key: PrivateKey,
  places: readonly string[],
  more: Pick<WorldOptions, "hub" | "serve"> & { store?: Store } = {},
): Promise<World> {
  const { store = memoryStore(), serve } = more;
  const opened = await openWorld({
    hub: { key, store, ...more.hub },
    serve: {
      innerInboxes: places,
      ...serve,
      limits: { webhookWaitMs: 20, webhookMostWaitMs: 40, ...serve?.limits },
    },
  });
  open.push(opened);
  return opened;
}

async function inboxOf(agent: string, key: PrivateKey, port?: number): Promise<Inbox> {
  const inbox = await Inbox.open(agent, key, port);
  open.push(inbox);
  return inbox;
}

/** An agent that names an inbox, and does nothing by itself. */
async function listener(at: World, id: string, inbox: string): Promise<Party> {
  const party = new Party(id, generateKey(), at.url, at.hub);
  const capabilities = [{ name: "work" }];
  const manifest = signManifest({ agent_id: id, capabilities, inbox }, party.key);
  const { status } = await ask(`${at.url}/v1/agents/${id}`, { method: "PUT", body: { manifest } });
  expect(status).toBe(200);
  return party;
}

function isOffer(delivery: Delivery): delivery is Extract<Delivery, { type: "offer" }> {
  return delivery.type === "offer";
}

function offers(deliveries: readonly Delivery[]) {
  return deliveries.filter(isOffer);
}

/** Accepts and answers offers in the response to the push itself. */
function working(worker: Party, handoff: Signed) {
  return (deliveries: readonly Delivery[]) => ({
    envelopes: offers(deliveries).flatMap(({ attempt }) => [
      worker.accept(handoff, attempt),
      worker.result(handoff, "pushed", attempt),
    ]),
  });
}

async function ended(at: World, { envelope }: Signed): Promise<unknown> {
  const { handoff_id: id } = envelope;
  for (;;) {
    const next = new Promise<void>((resolve) => {
      const stop = at.store.onCommit((stored) => {
        if (stored?.id !== id || stored.state === "open") return;
        stop();
        resolve();
      });
    });
    const view = await at.hub.operator.handoff(id);
    if (view !== undefined && view.state !== "open") return view.state;
    await next;
  }
}

test("an agent that only listens is posted its work, signed by the hub, and answers in the response", async () => {
  const key = generateKey();
  const inbox = await inboxOf("worker", key);
  const at = await world(key, [inbox.place]);
  const worker = await listener(at, "worker", inbox.url);
  const owner = await at.party("owner");
  const handoff = owner.handoff("worker");
  inbox.answer = working(worker, handoff);
  expect((await owner.submit(handoff.text)).status).toBe(200);
  expect(await ended(at, handoff)).toBe("completed");
  expect(offers(inbox.deliveries)).toHaveLength(1);
  expect(await at.hub.operator.presence("worker")).toMatchObject({ isConnected: true });
});

test("a delegator that only listens is posted the acceptance and the result", async () => {
  const key = generateKey();
  const inbox = await inboxOf("owner", key);
  const at = await world(key, [inbox.place]);
  const owner = await listener(at, "owner", inbox.url);
  const worker = await at.party("worker", [{ name: "work" }]);
  const wire = await worker.attach();
  const handoff = owner.handoff("worker");
  await owner.submit(handoff.text);
  await wire.delivery("offer");
  await worker.submit(worker.accept(handoff));
  await worker.submit(worker.result(handoff));
  await inbox.until(({ deliveries }) => deliveries.length >= 2);
  const kinds = inbox.deliveries.map((each) => ("envelope" in each ? each.envelope : ""));
  expect(kinds).toHaveLength(2);
  await wire.close();
});

test("deliveries to a failing inbox are repeated, also after a restart of the hub, until they arrive", async () => {
  const key = generateKey();
  const store = memoryStore();
  const inbox = await inboxOf("worker", key);
  inbox.answer = () => ({ status: 500 });
  const first = await world(key, [inbox.place], { store });
  const worker = await listener(first, "worker", inbox.url);
  const owner = await first.party("owner");
  const handoff = owner.handoff("worker");
  await owner.submit(handoff.text);
  await inbox.until(({ posts }) => posts >= 3);
  // Only a challenge: nothing is offered to an agent that does not listen.
  expect(inbox.deliveries).toEqual([]);
  expect(await first.hub.operator.presence("worker")).toMatchObject({ isConnected: false });
  await open.pop()!.close();
  inbox.answer = working(worker, handoff);
  const second = await world(key, [inbox.place], { store });
  expect(await ended(second, handoff)).toBe("completed");
});

test("an unconfirmed end is posted again", async () => {
  const key = generateKey();
  const inbox = await inboxOf("owner", key);
  const at = await world(key, [inbox.place]);
  const owner = await listener(at, "owner", inbox.url);
  const worker = await at.party("worker", [{ name: "work" }]);
  let failures = 2;
  inbox.answer = (deliveries) =>
    deliveries.length > 0 && failures-- > 0 ? { status: 503 } : { body: "ok" };
  const handoff = owner.handoff("worker");
  const wire = await worker.attach();
  await owner.submit(handoff.text);
  await wire.delivery("offer");
  await worker.submit(worker.result(handoff));
  await inbox.until(({ deliveries }) => deliveries.length >= 3);
  const [once, again] = inbox.deliveries.map((each) => ("envelope" in each ? each.envelope : ""));
  expect(again).toBe(once);
  await wire.close();
});

test("an agent changes from poll to socket to webhook during a handoff, and everything is delivered again", async () => {
  const key = generateKey();
  const inbox = await inboxOf("worker", key);
  const at = await world(key, [inbox.place]);
  const owner = await at.party("owner");
  const worker = await listener(at, "worker", inbox.url);
  await inbox.until(({ posts }) => posts >= 1);

  // By poll it is offered, and accepts.
  const polled = await worker.poll({ wait_seconds: 0 });
  expect(polled.status).toBe(200);
  const handoff = owner.handoff("worker");
  await owner.submit(handoff.text);
  const offered = await worker.poll({ cursor: polled.json["cursor"] as string });
  const [offer] = offered.json["deliveries"] as Record<string, unknown>[];
  expect(offer).toMatchObject({ type: "offer", attempt: 1, is_accepted: false });
  expect((await worker.submit(worker.accept(handoff))).status).toBe(200);
  expect(inbox.deliveries).toEqual([]);

  // By socket it continues the same attempt, and keeps it alive.
  const wire = await worker.attach();
  const again = await wire.delivery("offer");
  expect(again).toMatchObject({ attempt: 1, is_accepted: true });
  const { handoff_id } = handoff.envelope;
  wire.say({ type: "heartbeat", handoff_id, attempt: 1 });
  await wire.close();

  // By webhook it ends it: the hub posts as soon as the socket is gone.
  inbox.answer = (deliveries) => ({
    envelopes: offers(deliveries).map(({ attempt }) => worker.result(handoff, "pushed", attempt)),
  });
  await inbox.until(({ deliveries }) => offers(deliveries).length > 0);
  expect(offers(inbox.deliveries)[0]).toMatchObject({ attempt: 1, is_accepted: true });
  expect(await ended(at, handoff)).toBe("completed");
  const view = await at.hub.operator.handoff(handoff_id);
  expect(view!.attempts).toHaveLength(1);
});

test("an attached agent is never replaced by its inbox", async () => {
  const key = generateKey();
  const inbox = await inboxOf("worker", key);
  const at = await world(key, [inbox.place]);
  const worker = await listener(at, "worker", inbox.url);
  const wire = await worker.attach();
  const next = signManifest(
    {
      agent_id: "worker",
      capabilities: [{ name: "work" }],
      inbox: `${inbox.url}&again`,
      sequence: 2,
      previous: (await at.hub.operator.presence("worker")).digest,
      keys: [worker.key.jwk],
    },
    worker.key,
  );
  const before = inbox.posts;
  await ask(`${at.url}/v1/agents/worker`, { method: "PUT", body: { manifest: next } });
  const owner = await at.party("owner");
  const handoff = owner.handoff("worker");
  await owner.submit(handoff.text);
  await wire.delivery("offer");
  expect(inbox.posts).toBe(before);
  await wire.close();
});

test("taken in an answer counts as on a socket: what expires then is the lease", async () => {
  const key = generateKey();
  const inbox = await inboxOf("worker", key);
  const terms = { offerMs: 200, graceMs: 200 };
  const at = await world(key, [inbox.place], { hub: { terms } });
  inbox.answer = (deliveries) => ({
    taken: offers(deliveries).map(({ handoff_id, attempt }) => ({ handoff_id, attempt })),
  });
  await listener(at, "worker", inbox.url);
  const owner = await at.party("owner");
  const handoff = owner.handoff("worker");
  const { handoff_id: id } = handoff.envelope;
  const isClosed = new Promise<string>((resolve) => {
    const stop = at.store.onCommit(() => {
      void at.hub.operator.handoff(id).then((view) => {
        const closed = view?.attempts[0]?.closed ?? null;
        if (closed === null) return;
        stop();
        resolve(closed);
      });
    });
  });
  await owner.submit(handoff.text);
  expect(await isClosed).toBe("lease_lost");
});

test("a redirect is not followed, and counts as a failure", async () => {
  const key = generateKey();
  const inner = await inboxOf("worker", key);
  const outer = await inboxOf("worker", key);
  outer.answer = () => ({ status: 307, headers: { location: inner.url } });
  const at = await world(key, [outer.place, inner.place]);
  await listener(at, "worker", outer.url);
  await outer.until(({ posts }) => posts >= 3);
  expect(inner.posts).toBe(0);
});

test("an inbox that never answers, or answers endlessly, delays no other", async () => {
  const key = generateKey();
  const silent = createServer((socket) => socket.on("error", () => undefined));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const endless = await inboxOf("endless", key);
  endless.echoes = false;
  endless.answer = () => ({ body: "x".repeat(3 * 1024 * 1024) });
  const good = await inboxOf("worker", key);
  const at = await world(key, [`127.0.0.1:${port}`, endless.place, good.place], {
    serve: { limits: { webhookMs: 200, webhookWaitMs: 20, webhookMostWaitMs: 40 } },
  });
  await listener(at, "silent", `http://127.0.0.1:${port}/`);
  await listener(at, "endless", endless.url);
  const worker = await listener(at, "worker", good.url);
  const owner = await at.party("owner");
  const handoff = owner.handoff("worker");
  good.answer = working(worker, handoff);
  await owner.submit(handoff.text);
  expect(await ended(at, handoff)).toBe("completed");
  await endless.until(({ posts }) => posts >= 2);
  expect(await at.hub.operator.presence("endless")).toMatchObject({ isConnected: false });
  silent.close();
});

test("a manifest without an inbox ends the pushes", async () => {
  const key = generateKey();
  const inbox = await inboxOf("worker", key);
  const at = await world(key, [inbox.place]);
  const worker = await listener(at, "worker", inbox.url);
  await inbox.until(({ posts }) => posts >= 1);
  const { digest } = await at.hub.operator.presence("worker");
  const next = signManifest(
    {
      agent_id: "worker",
      capabilities: [{ name: "work" }],
      sequence: 2,
      previous: digest,
      keys: [worker.key.jwk],
    },
    worker.key,
  );
  const left = new Promise<void>((resolve) => {
    const stop = at.hub.operator.watch(({ event, agent }) => {
      if (event !== "detached" || agent !== "worker") return;
      stop();
      resolve();
    });
  });
  await ask(`${at.url}/v1/agents/worker`, { method: "PUT", body: { manifest: next } });
  await left;
  expect(await at.hub.operator.presence("worker")).toMatchObject({ isConnected: false });
});

/** A server that is no inbox, and counts its requests. */
async function bystander(answer: (body: string) => string = () => "ok", host = "127.0.0.1") {
  const requests: string[] = [];
  const server = createHttpServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString();
      requests.push(body);
      response.end(answer(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  open.push({
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return { requests, port: (server.address() as AddressInfo).port };
}

async function published(at: World, party: Party, inbox: string): Promise<void> {
  const known = await at.hub.operator.presence(party.id);
  const manifest = signManifest(
    {
      agent_id: party.id,
      capabilities: [{ name: "work" }],
      inbox,
      sequence: known.sequence + 1,
      previous: known.digest,
      keys: [party.key.jwk],
    },
    party.key,
  );
  const path = `${at.url}/v1/agents/${party.id}`;
  expect((await ask(path, { method: "PUT", body: { manifest } })).status).toBe(200);
}

test("53: hundreds of publications cause only a few requests to another's server", async () => {
  const key = generateKey();
  const victim = await bystander(() => "ok", "127.0.0.2");
  const inbox = await inboxOf("worker", key);
  const at = await world(key, ["127.0.0.1", "127.0.0.2"]);
  const rogues = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      listener(at, `rogue-${index}`, `http://127.0.0.2:${victim.port}/${index}`),
    ),
  );
  for (let turn = 0; turn < 20; turn++) {
    for (const rogue of rogues) {
      await published(at, rogue, `http://127.0.0.2:${victim.port}/${turn % 2 ? turn : rogue.id}`);
    }
  }
  // An agent with an inbox elsewhere is served meanwhile.
  const worker = await listener(at, "worker", inbox.url);
  const owner = await at.party("owner");
  const handoff = owner.handoff("worker");
  inbox.answer = working(worker, handoff);
  await owner.submit(handoff.text);
  expect(await ended(at, handoff)).toBe("completed");
  expect(victim.requests.length).toBeLessThanOrEqual(BUDGETS.probeBurstPerHost.limit + 1);
  for (const body of victim.requests) {
    expect(JSON.parse(body)).toMatchObject({ deliveries: [], challenge: expect.any(String) });
  }
});

test.each([
  ["says ok", () => "ok"],
  ["sends back what it is sent", (body: string) => body],
  ["echoes another challenge", () => '{"echo":"another"}'],
])("53: nothing is delivered to a server that %s", async (_how, answer) => {
  const key = generateKey();
  const server = await bystander(answer);
  const at = await world(key, ["127.0.0.1"]);
  await listener(at, "worker", `http://127.0.0.1:${server.port}/`);
  const owner = await at.party("owner");
  await owner.submit(owner.handoff("worker").text);
  while (server.requests.length < 3) await new Promise((resolve) => setImmediate(resolve));
  for (const body of server.requests) expect(JSON.parse(body)).toMatchObject({ deliveries: [] });
  expect(await at.hub.operator.presence("worker")).toMatchObject({ isConnected: false });
});

test("each attachment challenges with a new nonce", async () => {
  const key = generateKey();
  const challenges: string[] = [];
  const server = await bystander((body) => {
    const { challenge } = JSON.parse(body) as { challenge?: string };
    if (challenge !== undefined) challenges.push(challenge);
    return challenge === undefined ? "" : JSON.stringify({ echo: challenge });
  });
  const at = await world(key, ["127.0.0.1"]);
  const worker = await listener(at, "worker", `http://127.0.0.1:${server.port}/`);
  while (challenges.length < 1) await new Promise((resolve) => setImmediate(resolve));
  await (await worker.attach()).close();
  while (challenges.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(new Set(challenges).size).toBe(challenges.length);
  expect(challenges[0]!.length).toBeGreaterThanOrEqual(22);
});

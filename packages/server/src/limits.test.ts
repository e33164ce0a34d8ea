/// <reference types="node" />
import { digestOfJws, generateKey, signManifest } from "@waybill/protocol";
import { expect, test } from "vitest";
import { rawBytes } from "./hardening-fixture.ts";
import { RawConnection, requestText } from "./http/raw-fixture.ts";
import { ask, openWorld, Party, Wire } from "./served-fixture.ts";
import type { World } from "./served-fixture.ts";
import type { ServedLimits } from "./budgets.ts";

async function withLimits(
  limits: Partial<ServedLimits>,
  work: (world: World) => Promise<void>,
): Promise<void> {
  const world = await openWorld({ serve: { limits } });
  try {
    await work(world);
    // Whatever was tried, the hub serves everybody else.
    expect(world.hub.id).toBe("hub");
  } finally {
    await world.close();
  }
}

test("31: a socket without a hello is closed with 401", () =>
  withLimits({ helloMs: 200 }, async ({ url }) => {
    const wire = await Wire.open(url);
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
    await wire.closed;
  }));

test("31: a socket that floods before its hello is closed with 401", () =>
  withLimits({ closeMs: 200 }, async ({ url }) => {
    const wire = await Wire.open(url);
    for (let count = 0; count < 200; count++) wire.say({ type: "ping" });
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
    await wire.closed;
    const caller = await Wire.open(url);
    caller.say({ type: "call", number: 1, call: "manifests", params: { agent: "hub" } });
    expect((await caller.next("closed")).problem).toMatchObject({ waybill_status: 401 });
  }));

test("31: a socket that never reads is closed, and its unread deliveries are kept", () =>
  withLimits({ unsentBytes: 1_000_000 }, async (world) => {
    const owner = await world.party("owner");
    const worker = await world.party("worker", [{ name: "work" }]);
    const wire = await owner.attach(0);
    const line = await worker.attach();
    wire.socket.pause();
    const output = "x".repeat(500_000);
    let count = 0;
    while (world.hub.operator.instanceOf("owner") !== undefined && count < 100) {
      const handoff = owner.handoff("worker");
      expect((await owner.submit(handoff.text)).status).toBe(200);
      const { attempt } = await line.delivery("offer");
      await line.call("submit", { envelope: worker.result(handoff, output, attempt as number) });
      count++;
    }
    expect(count).toBeLessThan(100);
    wire.socket.terminate();
    const again = await owner.attach(0);
    expect(await again.delivery("envelope")).toHaveProperty("envelope");
    await again.close();
    await line.close();
  }));

test("40: an agent that attaches too often is told when to retry, on sockets and in polls", () =>
  withLimits({ attachmentBurstPerAgent: 2 }, async (world) => {
    const owner = await world.party("owner");
    for (let time = 0; time < 2; time++) await (await owner.attach()).close();
    const wire = await Wire.open(world.url);
    const { nonce } = await wire.next("challenge");
    wire.say({ type: "hello", proof: owner.hello(nonce), credit: 1 });
    const { problem } = await wire.next("closed");
    expect(problem).toMatchObject({ waybill_status: 301 });
    expect(problem).toHaveProperty("retry_after_ms");
    const polled = await owner.poll({ wait_seconds: 0 });
    expect(polled.json).toMatchObject({ waybill_status: 301 });
    const other = await world.party("other");
    await (await other.attach()).close();
  }));

test("40: manifests from one address have a budget of their own", () =>
  withLimits({ manifestBytesPerAddress: 1, manifestBurstPerAddress: 3_000 }, async ({ url }) => {
    const capabilities = [{ name: "work", description: "x".repeat(1_200) }];
    const publish = (id: string) => {
      const manifest = signManifest({ agent_id: id, capabilities }, generateKey());
      return ask(`${url}/v1/agents/${id}`, { method: "PUT", body: { manifest } });
    };
    expect((await publish("first")).status).toBe(200);
    expect((await publish("second")).json).toMatchObject({ waybill_status: 301 });
    const wire = await Wire.open(url);
    const manifest = signManifest({ agent_id: "third", capabilities }, generateKey());
    expect(await wire.call("publish", { manifest })).toMatchObject({
      problem: { waybill_status: 301 },
    });
    const { text } = await ask(`${url}/metrics`);
    expect(text).toMatch(/_hits_total\{budget="manifestBytesPerAddress"\} 2$/m);
  }));

test("31: a slow reader is offered nothing more until it has caught up, and loses nothing", () =>
  withLimits({ slowBytes: 1_000_000 }, async (world) => {
    const owner = await world.party("owner");
    const slow = await world.party("slow", [{ name: "work" }]);
    const wire = await slow.attach(1_000);
    wire.socket.pause();
    const input = "x".repeat(500_000);
    const submitted = new Set<string>();
    const credit = async () => (await world.hub.operator.presence("slow")).credit;
    while (submitted.size < 100 && (await credit()) > 0) {
      const { text, envelope } = owner.handoff("slow", { body: { capability: "work", input } });
      expect((await owner.submit(text)).status).toBe(200);
      submitted.add(envelope.handoff_id);
    }
    expect(submitted.size).toBeLessThan(100);
    // Work for any agent goes to one that reads.
    const quick = await world.party("quick", [{ name: "work" }]);
    const other = await quick.attach();
    const open = owner.handoff("slow", { to: { capability: "work" } });
    await owner.submit(open.text);
    expect(await other.delivery("offer")).toMatchObject({ handoff_id: open.envelope.handoff_id });
    const last = owner.handoff("slow");
    await owner.submit(last.text);
    submitted.add(last.envelope.handoff_id);
    wire.socket.resume();
    while (submitted.size > 0) {
      const offer = await wire.delivery("offer");
      wire.say({ type: "seen", id: offer["id"] as string });
      submitted.delete(offer["handoff_id"] as string);
    }
    expect(await credit()).toBeGreaterThan(0);
  }));

test("24: headers and bodies that trickle in are closed with 400", () =>
  withLimits({ headersMs: 300, requestMs: 600 }, async ({ url }) => {
    const host = "Host: 127.0.0.1\r\n";
    const headers = await rawBytes(url, `GET /healthz HTTP/1.1\r\n${host}X-Slow: `);
    expect(headers).toMatch(/^HTTP\/1.1 400 /);
    expect(headers).toContain('"waybill_status":400');
    const body = await rawBytes(
      url,
      `POST /v1/envelopes HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"env`,
    );
    expect(body).toMatch(/^HTTP\/1.1 400 /);
    expect((await ask(`${url}/healthz`)).status).toBe(200);
  }));

test("a client that asks too often is told when to retry, and is served then", () =>
  withLimits({ requestsPerAddress: 20, burstPerAddress: 5 }, async ({ url }) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`${url}/healthz`)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(5);
    expect(refused[0]!.json).toMatchObject({ waybill_status: 301, retryable: true });
    expect(refused[0]!.json.retry_after_ms).toBeGreaterThan(0);
    expect(Number(refused[0]!.headers.get("retry-after"))).toBeGreaterThan(0);
    const wait = Math.max(...refused.map(({ json }) => json.retry_after_ms!));
    await new Promise((resolve) => setTimeout(resolve, wait));
    expect((await ask(`${url}/healthz`)).status).toBe(200);
  }));

test("each agent's requests have a quota of their own", () =>
  withLimits({ callsPerAgent: 0.001, burstPerAgent: 3 }, async (world) => {
    const owner = await world.party("owner");
    const other = await world.party("other");
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) {
      statuses.push((await owner.ask("/v1/dead-letters")).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await other.ask("/v1/dead-letters")).status).toBe(200);
  }));

test("12: strangers have a budget of bytes; an agent that signs its requests uses its own", () =>
  withLimits({ bytesPerAddress: 1, burstBytesPerAddress: 50_000 }, async (world) => {
    const owner = await world.party("owner");
    const body = JSON.stringify({ envelope: "x".repeat(40_000) });
    expect((await ask(`${world.url}/v1/envelopes`, { body })).status).toBe(400);
    const refused = await ask(`${world.url}/v1/envelopes`, { body });
    expect(refused.json).toMatchObject({ waybill_status: 301, retryable: true });
    expect((await owner.ask("/v1/envelopes", { body })).status).toBe(400);
    expect((await ask(`${world.url}/healthz`)).status).toBe(200);
  }));

test("12: a body without a stated length is charged as it arrives", () =>
  withLimits({ bytesPerAddress: 1, burstBytesPerAddress: 50_000 }, async ({ url }) => {
    const asking = await RawConnection.open(url);
    const headers = ["Content-Type: application/json", "Transfer-Encoding: chunked"];
    asking.write(requestText("POST /v1/envelopes", ...headers));
    const chunk = `2000\r\n${" ".repeat(0x2000)}\r\n`;
    while (asking.isOpen && !asking.received.includes("429")) {
      asking.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(asking.received).toMatch(/^HTTP\/1.1 429 /);
    asking.close();
  }));

test("12: invalid signatures use up the budget of an address, and not that of the agent", () =>
  withLimits({ requestsPerAddress: 0.001, burstPerAddress: 50 }, async (world) => {
    const owner = await world.party("owner");
    const path = "/v1/dead-letters";
    const line = await RawConnection.open(world.url);
    const asked = async () => {
      line.received = "";
      line.write(requestText(path, `Authorization: ${owner.proof(path, "GET")}`));
      await line.until("\r\n\r\n");
      return Number(line.received.split(" ")[1]);
    };
    expect(await asked()).toBe(200);
    const { text } = new Party("owner", generateKey(), world.url, world.hub).handoff("owner");
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) {
      statuses.push((await ask(`${world.url}/v1/envelopes`, { body: { envelope: text } })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429]);
    // Its connection is authenticated: what others at its address have used up does not matter.
    expect(await asked()).toBe(200);
    line.close();
  }));

test("12: an agent has a budget of bytes too, over requests and its socket", () =>
  withLimits({ bytesPerAgent: 1, burstBytesPerAgent: 50_000 }, async (world) => {
    const owner = await world.party("owner");
    const body = JSON.stringify({ envelope: "x".repeat(40_000) });
    expect((await owner.ask("/v1/envelopes", { body })).status).toBe(400);
    expect((await owner.ask("/v1/envelopes", { body })).status).toBe(429);
    const other = await world.party("other");
    expect((await other.ask("/v1/envelopes", { body })).status).toBe(400);
  }));

test("31: a message with too many frames or fragments closes its socket", () =>
  withLimits({ framesPerMessage: 10, fragmentsPerMessage: 10 }, async (world) => {
    const owner = await world.party("owner");
    const wire = await owner.attach();
    wire.say(...Array.from({ length: 11 }, () => ({ type: "ping" }) as const));
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 413 });
    const torn = await owner.attach();
    for (let count = 0; count < 20; count++) torn.socket.send("", { fin: false });
    expect(await torn.closed).toBe(1008);
  }));

test("31: pings of the WebSocket protocol are counted too", () =>
  withLimits({}, async ({ url }) => {
    const wire = await Wire.open(url);
    for (let count = 0; count < 100; count++) wire.socket.ping();
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
  }));

test("31: an agent that pings and does not read makes the hub buffer nothing", () =>
  withLimits({ unsentBytes: 2_000_000 }, async (world) => {
    const owner = await world.party("owner");
    const wire = await owner.attach();
    const ponged = new Promise((resolve) => wire.socket.once("pong", resolve));
    wire.socket.ping("x");
    expect(String(await ponged)).toBe("x");
    wire.socket.pause();
    for (let count = 0; count < 40_000; count++) wire.socket.ping("x".repeat(125));
    // Its calls are answered once it reads again.
    const answer = wire.call("manifests", { agent: "owner" });
    wire.socket.resume();
    expect(await answer).toHaveProperty("manifests");
    await wire.close();
  }));

test("31: of strangers with unfinished long messages the heaviest are closed", () =>
  withLimits({ strangerHeldBytes: 1_000_000 }, async (world) => {
    const strangers: Wire[] = [];
    for (let count = 0; count < 6; count++) {
      const wire = await Wire.open(world.url);
      wire.socket.send("x".repeat(300_000), { fin: false });
      strangers.push(wire);
    }
    const first = await Promise.race(
      strangers.map(({ closed }, index) => closed.then(() => index)),
    );
    expect(first).toBeGreaterThanOrEqual(0);
    // The same for bodies.
    const bodies = await Promise.all(
      Array.from({ length: 6 }, () => RawConnection.open(world.url)),
    );
    for (const each of bodies) {
      const headers = ["Content-Type: application/json", "Content-Length: 400000"];
      each.write(requestText("POST /v1/envelopes", ...headers) + "x".repeat(300_000));
    }
    await Promise.race(bodies.map(({ closed }) => closed));
    expect((await ask(`${world.url}/healthz`)).status).toBe(200);
    for (const each of bodies) each.close();
    for (const each of strangers) each.socket.terminate();
  }));

test("41: thousands of calls of one agent delay another agent by a few only", () =>
  withLimits({ callsPerHub: 4 }, async (world) => {
    const heavy = await world.party("heavy", [{ name: "work" }]);
    const light = await world.party("light");
    const [line, other] = [await heavy.attach(0), await light.attach(0)];
    let isAnswered = 0;
    const calls = Array.from({ length: 1_000 }, () =>
      line.call("submit", { envelope: heavy.handoff("heavy").text }).then((reply) => {
        isAnswered++;
        return reply;
      }),
    );
    await calls[0];
    const { envelope, text } = light.handoff("heavy");
    await other.call("submit", { envelope: text });
    expect(isAnswered).toBeLessThan(1_000);
    expect(await world.hub.operator.handoff(envelope.handoff_id)).toMatchObject({ state: "open" });
    await Promise.all(calls);
    await Promise.all([line.close(), other.close()]);
  }));

test("callers that hold more than their share are read later, and are answered all the same", () =>
  withLimits({ callBytesAtOnce: 500_000, callBytesPerHub: 600_000 }, async (world) => {
    const owner = await world.party("owner", [{ name: "work" }]);
    const wire = await owner.attach(0);
    const input = "x".repeat(300_000);
    const calls = Array.from({ length: 12 }, () =>
      wire.call("submit", {
        envelope: owner.handoff("owner", { body: { capability: "work", input } }).text,
      }),
    );
    for (const reply of await Promise.all(calls)) expect(reply).toHaveProperty("receipt");
    await wire.close();
  }));

test("31: a connection is not closed for messages that were read long ago", () =>
  withLimits({ heldBytesPerHub: 150_000 }, async (world) => {
    const lines: Wire[] = [];
    for (const name of ["anna", "berta", "carla"]) {
      const line = await (await world.party(name)).attach();
      lines.push(line);
      line.socket.send(JSON.stringify({ type: "pong" }).padEnd(60_000));
      expect(await line.call("manifests", { agent: "hub" })).toHaveProperty("manifests");
    }
    for (const line of lines) {
      expect(await line.call("manifests", { agent: "hub" })).toHaveProperty("manifests");
      await line.close();
    }
  }));

test("31: open questions larger than the send buffer are delivered piece by piece as the delegator reads", () =>
  withLimits({ unsentBytes: 7_000_000 }, async (world) => {
    const owner = await world.party("owner");
    const worker = await world.party("worker", [{ name: "work" }]);
    const line = await worker.attach();
    const handoff = owner.handoff("worker");
    await owner.submit(handoff.text);
    await line.delivery("offer");
    await worker.submit(worker.accept(handoff));
    const questions = new Set<string>();
    for (let index = 0; index < 16; index++) {
      const ids = Array.from({ length: 10 }, (_, number) => `q-${index}-${number}`);
      const asked = worker.question(handoff, ids, "?".repeat(60_000));
      expect((await worker.submit(asked)).status).toBe(200);
      questions.add(digestOfJws(asked));
    }
    const wire = await owner.attach();
    while (questions.size > 0) {
      const { envelope } = await wire.delivery("envelope");
      const digest = digestOfJws(envelope as string);
      questions.delete(digest);
      wire.say({ type: "seen", id: digest });
    }
    await wire.close();
    await line.close();
  }));

test("31: the answers to all questions of a handoff have a common limit, because each offer contains them all", async () => {
  const world = await openWorld({ hub: { limits: { answerCharacters: 300_000 } } });
  const owner = await world.party("owner");
  const worker = await world.party("worker", [{ name: "work" }]);
  const line = await worker.attach();
  const handoff = owner.handoff("worker");
  await owner.submit(handoff.text);
  await line.delivery("offer");
  await worker.submit(worker.accept(handoff));
  const statuses: unknown[] = [];
  for (const [index, characters] of [100_000, 100_000, 100_000, 10].entries()) {
    const asked = worker.question(handoff, [`q-${index}`]);
    await worker.submit(asked);
    const answer = owner.answer(handoff, asked, `q-${index}`, "x".repeat(characters));
    const { json, status } = await owner.submit(answer);
    statuses.push(json.waybill_status ?? status);
  }
  // In base64url a text is a third longer.
  expect(statuses).toEqual([200, 200, 413, 200]);
  await line.close();
  await world.close();
});

test("41: searches have slots of their own, and block no other calls", () =>
  withLimits({ callsPerHub: 1, searchesPerHub: 1 }, async (world) => {
    const agent = await world.party("agent", [{ name: "work" }]);
    const line = await agent.attach(0);
    const numbers = [101, 102, 103, 104, 105];
    const params = { capability: "work" };
    // In one message, so that all of them arrive at once.
    line.say(
      ...numbers.map((number) => ({
        type: "call" as const,
        number,
        call: "find" as const,
        params,
      })),
    );
    for (const number of numbers) {
      expect(await line.next("reply", (frame) => frame.number === number)).toHaveProperty("value");
    }
    const { text } = await ask(`${world.url}/metrics`);
    expect(text).toMatch(/_hits_total\{budget="callsPerHub"\} 0$/m);
    expect(text).not.toMatch(/_hits_total\{budget="searchesPerHub"\} 0$/m);
    await line.close();
  }));

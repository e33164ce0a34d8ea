import { expect, test } from "vitest";
import { rawBytes } from "./hardening-fixture.ts";
import { ask, openWorld, Wire } from "./served-fixture.ts";
import type { World } from "./served-fixture.ts";
import type { ServedLimits } from "./budgets.ts";

async function withLimits(
  limits: Partial<ServedLimits>,
  work: (world: World) => Promise<void>,
): Promise<void> {
  const world = await openWorld({ serve: { limits } });
  try {
    await work(world);
    // Whatever was tried, the hub is there for everybody else.
    expect(world.hub.id).toBe("hub");
  } finally {
    await world.close();
  }
}

test("31: a socket that does not say who it is is closed with 401", () =>
  withLimits({ helloMs: 200 }, async ({ url }) => {
    const wire = await Wire.open(url);
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
    await wire.closed;
  }));

test("31: a socket that floods before it says who it is is closed with 401", () =>
  withLimits({}, async ({ url }) => {
    const wire = await Wire.open(url);
    for (let count = 0; count < 200; count++) wire.say({ type: "ping" });
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
    await wire.closed;
    const caller = await Wire.open(url);
    caller.say({ type: "call", number: 1, call: "manifests", params: { agent: "hub" } });
    expect((await caller.next("closed")).problem).toMatchObject({ waybill_status: 401 });
  }));

test("31: a socket that never reads is cut off, and what it has not read stays for it", () =>
  withLimits({ unsentBytes: 1_000_000 }, async (world) => {
    const owner = await world.party("owner");
    const worker = await world.party("worker", [{ name: "work" }]);
    const wire = await worker.attach(1_000);
    wire.socket.pause();
    const input = "x".repeat(500_000);
    let sent = 0;
    let isGone = false;
    const gone = new Promise<void>((resolve) => {
      const look = world.store.onCommit(() => {
        if (world.hub.operator.instanceOf("worker") !== undefined) return;
        look();
        isGone = true;
        resolve();
      });
    });
    while (!isGone && sent < 200) {
      const { text } = owner.handoff("worker", { body: { capability: "work", input } });
      expect((await owner.submit(text)).status).toBe(200);
      sent++;
    }
    await gone;
    expect(sent).toBeLessThan(200);
    wire.socket.terminate();
    const again = await worker.attach(1_000);
    expect(await again.delivery("offer")).toMatchObject({ attempt: expect.any(Number) });
  }));

test("31: who reads slowly is offered nothing more until it has read, and loses nothing", () =>
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
    // Work that anybody could do goes to who reads.
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
      submitted.delete((await wire.delivery("offer"))["handoff_id"] as string);
    }
    expect(await credit()).toBeGreaterThan(0);
  }));

test("24: headers and bodies that trickle in are cut off with 400", () =>
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

test("who asks too often is told when to ask again, and is heard then", () =>
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

test("one agent's requests have a quota of their own", () =>
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

import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  newId,
  parseEnvelope,
  readCompact,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import { NO_STATS } from "@waybill/protocol/hub";
import type { CapabilityInput, HandoffEnvelope, HandoffInput, PrivateKey } from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import type { Attachment, Delivery } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StillClock } from "../still-clock-fixture.ts";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { HubServer } from "../open-hub.ts";
import { SlowCommits } from "../slow-commits-fixture.ts";
import { countedStore } from "../registry/counted-store-fixture.ts";
import type { CountedStore } from "../registry/counted-store-fixture.ts";

type Offer = Extract<Delivery, { type: "offer" }>;

/** Enough to distinguish a scan of all of them from constant cost. */
const WAITING = 200;
const FRAMES = 50;
/** How much one frame may read, however much waits. */
const READS_A_FRAME = 2;
const CHARACTERS_A_FRAME = 5_000;

let hub: HubServer;
let counted: CountedStore;
let slow: SlowCommits;
let owner: PrivateKey;

let clock: StillClock;

beforeEach(async () => {
  counted = countedStore(memoryStore());
  slow = new SlowCommits(counted.store);
  clock = new StillClock();
  hub = await openHub({ store: slow.store, key: generateKey(), clock });
  owner = await publish("owner", [{ name: "none" }]);
});
afterEach(() => hub.close());

async function publish(
  agent: string,
  capabilities: CapabilityInput[],
  key: PrivateKey = generateKey(),
): Promise<PrivateKey> {
  await hub.publish(signManifest({ agent_id: agent, capabilities }, key));
  return key;
}

interface Worker {
  readonly agent: string;
  readonly key: PrivateKey;
  readonly line: Attachment;
  readonly offers: Offer[];
}

async function attach(
  agent: string,
  capabilities: CapabilityInput[],
  credit: number,
): Promise<Worker> {
  return attachAgain(agent, await publish(agent, capabilities), credit);
}

async function attachAgain(agent: string, key: PrivateKey, credit: number): Promise<Worker> {
  const { id: to, domain } = hub;
  const claim = { from: agent, to, domain, instance: "one", id: newId(), at: Date.now() };
  const offers: Offer[] = [];
  const proof = signHello(claim, key);
  const line = await hub.attach({ agent, credit, instance: "one", proof }, (delivery) => {
    if (delivery.type === "offer") offers.push(delivery);
  });
  await settled();
  return { agent, key, line, offers };
}

/** Settles when everything in flight in memory has arrived. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function handOff(
  capability: string,
  more: Partial<HandoffInput> = {},
): Promise<HandoffEnvelope> {
  const envelope = createHandoff({
    from: "owner",
    domain: hub.domain,
    body: { capability },
    timeoutMs: 600_000,
    ...more,
  });
  await hub.submit(signEnvelope(envelope, owner));
  return envelope;
}

async function handOffMany(capability: string, more: Partial<HandoffInput> = {}): Promise<void> {
  for (let count = 0; count < WAITING; count++) await handOff(capability, more);
  await settled();
}

/** Ends an attempt that was offered, and frees its place. */
async function finish({ agent, key }: Worker, { envelope, attempt }: Offer): Promise<void> {
  const handoff = parseEnvelope(readCompact(envelope).payload) as HandoffEnvelope;
  const re = digestOfJws(envelope);
  for (const reply of [
    createReply(handoff, { kind: "receipt", from: agent, attempt, re, body: { status: 101 } }),
    createReply(handoff, {
      kind: "result",
      from: agent,
      attempt,
      re,
      body: { status: 200, output: "done" },
    }),
  ]) {
    await hub.submit(signEnvelope(reply, key));
  }
  await settled();
}

/** The frames read only a constant amount, however much waits. */
function expectConstant(frames: number): void {
  const reads = counted.calls("waiting") + counted.calls("handoff");
  expect(reads).toBeLessThanOrEqual(frames * READS_A_FRAME);
  expect(counted.characters()).toBeLessThanOrEqual(frames * CHARACTERS_A_FRAME);
}

/** The agent is considered once for everything that waits. */
async function lookOnce({ line }: Worker): Promise<void> {
  line.setCredit(0);
  line.setCredit(100);
  await settled();
  counted.reset();
}

function namesOf({ offers }: Worker): string[] {
  return offers.map(({ handoff_id: handoffId }) => handoffId);
}

const NEVER = { name: "work", input_schema: { type: "string", const: "never" } };

/** Work that the agent does not accept, and that an agent that is away would accept. */
async function unfit(credit: number): Promise<Worker> {
  await publish("away", [{ name: "work" }]);
  const worker = await attach("worker", [NEVER, { name: "other" }], credit);
  await handOffMany("work", { body: { capability: "work", input: "other" } });
  return worker;
}

const FLAPS = { higher: [100, 101], "on and off": [0, 100] } as const;

for (const [how, credits] of Object.entries(FLAPS)) {
  test(`39: a credit frame (${how}) costs the same however much waits for a full capability`, async () => {
    const worker = await attach(
      "worker",
      [{ name: "full", concurrency: 1 }, { name: "idle" }],
      100,
    );
    await handOffMany("full", { to: "worker" });
    await lookOnce(worker);
    for (let frame = 0; frame < FRAMES; frame++) {
      worker.line.setCredit(credits[frame % 2]!);
      await settled();
    }
    expect(worker.offers).toHaveLength(1);
    expectConstant(FRAMES);
  });

  test(`39: a credit frame (${how}) costs the same however much waits that does not fit the agent`, async () => {
    const worker = await unfit(100);
    await lookOnce(worker);
    for (let frame = 0; frame < FRAMES; frame++) {
      worker.line.setCredit(credits[frame % 2]!);
      await settled();
    }
    expect(worker.offers).toHaveLength(0);
    expectConstant(FRAMES);
  });
}

test("39: a freed place costs what is offered for it, however much waits that does not fit", async () => {
  const worker = await unfit(1);
  for (let count = 0; count < 5; count++) await handOff("other", { to: "worker" });
  await settled();
  await finish(worker, worker.offers[0]!);
  counted.reset();
  for (const turn of [1, 2, 3]) await finish(worker, worker.offers[turn]!);
  expect(worker.offers).toHaveLength(5);
  expectConstant(3 * 10);
});

test("39: work that precedes many waiting handoffs costs the same, and is offered first", async () => {
  const worker = await unfit(1);
  await lookOnce(worker);
  worker.line.setCredit(0);
  const urgent = { body: { capability: "work", input: "never" }, priority: 9 };
  const last = await handOff("work", { ...urgent, priority: 0 });
  const first = await handOff("work", urgent);
  await settled();
  counted.reset();
  worker.line.setCredit(2);
  await settled();
  expect(namesOf(worker)).toEqual([first.handoff_id, last.handoff_id]);
  expectConstant(10);
});

test("39: while work arrives, the agent is not considered again for work that does not fit it", async () => {
  const worker = await unfit(100);
  await lookOnce(worker);
  for (let count = 0; count < FRAMES; count++) {
    const priority = count % 10;
    await handOff("work", { body: { capability: "work", input: "other" }, priority });
    worker.line.setCredit(0);
    worker.line.setCredit(100);
    await settled();
  }
  expectConstant(FRAMES * 4);
});

test("a free place at a full capability is given to the first handoff that waits for it", async () => {
  const limits = [
    { name: "one", concurrency: 1 },
    { name: "two", concurrency: 2 },
  ];
  const worker = await attach("worker", limits, 100);
  const ids: Record<"one" | "two", string[]> = { one: [], two: [] };
  for (let count = 0; count < 24; count++) {
    const capability = count % 3 === 0 ? "one" : "two";
    ids[capability].push((await handOff(capability, { to: "worker" })).handoff_id);
  }
  await settled();
  const done: Record<string, string[]> = { one: [], two: [] };
  for (let turn = 0; turn < 24; turn++) {
    // Frees one capability or another in turn.
    const offer = worker.offers.splice((turn * 7) % worker.offers.length, 1)[0]!;
    const name = ids.one.includes(offer.handoff_id) ? "one" : "two";
    done[name]!.push(offer.handoff_id);
    await finish(worker, offer);
  }
  expect(done["one"]).toEqual(ids.one);
  expect(done["two"]!.toSorted()).toEqual(ids.two.toSorted());
});

test("work for a version of a capability that has no room is offered when it has room", async () => {
  const versions = [
    { name: "work", version: "1", concurrency: 1 },
    { name: "work", version: "2", concurrency: 5 },
  ];
  const worker = await attach("worker", versions, 100);
  const to = { capability: "work", version: "1" };
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) ids.push((await handOff("work", { to })).handoff_id);
  await settled();
  expect(worker.offers).toHaveLength(1);
  for (let turn = 0; turn < 5; turn++) await finish(worker, worker.offers[turn]!);
  expect(namesOf(worker)).toEqual(ids);
});

test("39: an agent that reconnects is not considered again for work that it can't take", async () => {
  const worker = await unfit(100);
  await lookOnce(worker);
  let { line } = worker;
  for (let turn = 0; turn < 10; turn++) {
    await line.close();
    ({ line } = await attachAgain("worker", worker.key, 100));
  }
  expectConstant(10 * 5);
  const fit = await handOff("work", { body: { capability: "work", input: "never" }, priority: 9 });
  await line.close();
  const later = await attachAgain("worker", worker.key, 100);
  expect(namesOf(later)).toEqual([fit.handoff_id]);
});

test("an agent that reconnects with another manifest is offered work that it accepts now", async () => {
  const worker = await unfit(100);
  await lookOnce(worker);
  await worker.line.close();
  const { digest } = await hub.operator.presence("worker");
  const capabilities = [{ name: "work" }];
  const next = { agent_id: "worker", sequence: 2, previous: digest, capabilities };
  await hub.publish(signManifest(next, worker.key));
  const later = await attachAgain("worker", worker.key, WAITING);
  expect(later.offers).toHaveLength(WAITING);
});

test("an agent that publishes while it disconnects during a pull is offered work that it accepts now", async () => {
  const worker = await unfit(100);
  const { digest } = await hub.operator.presence("worker");
  const capabilities = [{ name: "work" }];
  const next = { agent_id: "worker", sequence: 2, previous: digest, capabilities };
  worker.line.setCredit(0);
  counted.reset();
  worker.line.setCredit(100);
  while (counted.calls("waiting") === 0) await new Promise((resolve) => setImmediate(resolve));
  const published = hub.publish(signManifest(next, worker.key));
  await worker.line.close();
  await published;
  const later = await attachAgain("worker", worker.key, WAITING);
  expect(later.offers).toHaveLength(WAITING);
});

test("an agent that was away while a delegator joined a group is offered that delegator's work", async () => {
  await publish("away", [{ name: "work" }]);
  const worker = await attach("worker", [{ name: "work", from: { groups: ["team"] } }], 100);
  const handoff = await handOff("work");
  await lookOnce(worker);
  await worker.line.close();
  expect(worker.offers).toEqual([]);
  await hub.operator.changeGroup("team", { add: ["owner"] });
  const later = await attachAgain("worker", worker.key, 100);
  expect(namesOf(later)).toEqual([handoff.handoff_id]);
});

test("39: an agent whose ejection is over is considered again, and no other agent is", async () => {
  const stats = { ...NO_STATS, consecutiveFailures: 3, ejectedUntil: clock.now() + 30_000 };
  await counted.store.saveSetting("reliability bad work", JSON.stringify(stats));
  const good = await attach("good", [{ name: "work" }], 1);
  const bad = await attach("bad", [{ name: "work" }], WAITING);
  for (let count = 0; count < 5; count++) await attach(`never-${count}`, [NEVER], 100);
  await handOffMany("work", { body: { capability: "work", input: "other" } });
  expect([good.offers.length, bad.offers.length]).toEqual([1, 0]);
  for (let count = 0; count < 5; count++) await attach(`later-${count}`, [NEVER], 100);
  counted.reset();
  clock.advance(29_000);
  await settled();
  expect(bad.offers).toHaveLength(0);
  clock.advance(1_001);
  await settled();
  expect(bad.offers).toHaveLength(WAITING - 1);
  expect(counted.calls("waiting")).toBeLessThanOrEqual(WAITING / 10);
  expect(counted.calls("handoff")).toBeLessThanOrEqual(WAITING / 10);
});

test("an agent that attaches while a handoff is being committed is offered it", async () => {
  const worker = await attach("worker", [{ name: "work" }], 0);
  await worker.line.close();
  slow.hold();
  const taken = handOff("work", { to: "worker" });
  await settled();
  const back = await attachAgain("worker", worker.key, 4);
  expect(back.offers).toEqual([]);
  slow.release();
  const { handoff_id } = await taken;
  await settled();
  expect(back.offers).toMatchObject([{ handoff_id }]);
});

import { afterEach, expect, test } from "vitest";
import type { Agent } from "../agent.ts";
import type { AgentLogEvent } from "../log.ts";
import { Network } from "./served-fixture.ts";

let network: Network;

afterEach(() => network.close());

/** Collects the log of agents, and lets a test wait for entries. */
class Events {
  readonly all: AgentLogEvent[] = [];
  #woken: (() => void)[] = [];

  readonly log = (event: AgentLogEvent): void => {
    this.all.push(event);
    for (const wake of this.#woken.splice(0)) wake();
  };

  of(name: AgentLogEvent["event"]): AgentLogEvent[] {
    return this.all.filter(({ event }) => event === name);
  }

  async count(name: AgentLogEvent["event"], count: number): Promise<void> {
    while (this.of(name).length < count) {
      await new Promise<void>((resolve) => this.#woken.push(resolve));
    }
  }
}

/** Pseudo-random numbers that are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const CAPABILITY = { name: "double", lease_seconds: 5, max_attempts: 10 };

async function pair(url: string, events: Events): Promise<{ worker: Agent; owner: Agent }> {
  const worker = await network.agent("worker", url, events.log);
  worker.serve<number>(CAPABILITY, async ({ input, progress }) => {
    await progress({ fraction: 0.5 });
    return 2 * input;
  });
  await worker.start();
  const owner = await network.agent("owner", url, events.log);
  await owner.start();
  return { worker, owner };
}

/** Hands off, takes the results, waits for their acknowledgement, and then checks the ledger. */
async function handOff(owner: Agent, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const outputs = numbers.map(async (input) => {
    const handoff = owner.handoff({ capability: "double", input, timeoutMs: 120_000 });
    const { output } = await handoff.result;
    await handoff.acknowledge();
    const view = await network.hub.handoff(handoff.id, "owner");
    expect(view).toMatchObject({ state: "completed", isAcknowledged: true });
    return output;
  });
  expect(await Promise.all(outputs)).toEqual(numbers.map((input) => 2 * input));
  expect(await network.violations()).toEqual([]);
}

test("a proxy that drops idle connections finds none idle", async () => {
  network = await Network.open({ limits: { pingMs: 100 } });
  const proxy = await network.proxy();
  proxy.idleMs = 2_000;
  const events = new Events();
  const { owner } = await pair(proxy.url, events);
  const before = proxy.count;
  await new Promise<void>((resolve) => {
    let pieces = 0;
    proxy.onPiece = () => ++pieces === 100 && resolve();
  });
  // Keep-alive connections of fetch may be dropped; the sockets must not be.
  expect(proxy.count).toBe(before);
  expect(events.of("detached")).toEqual([]);
  await handOff(owner, 1);
});

test("a proxy that drops connections before a ping is due loses nothing", async () => {
  network = await Network.open();
  const proxy = await network.proxy();
  proxy.idleMs = 100;
  const events = new Events();
  const { owner } = await pair(proxy.url, events);
  await events.count("detached", 4);
  await handOff(owner, 5);
  await events.count("attached", 8);
  await handOff(owner, 5);
});

test.each([1, 2, 3, 4, 5])(
  "a proxy that is slow and drops connections at random loses nothing (seed %i)",
  async (seed) => {
    network = await Network.open();
    const proxy = await network.proxy();
    const events = new Events();
    const { owner } = await pair(proxy.url, events);
    const next = random(seed);
    proxy.delayMs = () => next() * 5;
    proxy.onPiece = (cut) => {
      if (next() < 0.05) cut();
    };
    while (events.of("detached").length < 5) await handOff(owner, 20);
    proxy.onPiece = () => undefined;
    await handOff(owner, 1);
  },
);

test.each(["near", "far"] as const)(
  "a connection that is half-closed on the %s side is reopened",
  async (side) => {
    network = await Network.open();
    const proxy = await network.proxy();
    const events = new Events();
    const { owner } = await pair(proxy.url, events);
    proxy.halfClose(side);
    await events.count("detached", 2);
    await handOff(owner, 5);
  },
);

test("a dead connection is detected by missing pongs while work is running", async () => {
  network = await Network.open({ limits: { pingMs: 100 } });
  const proxy = await network.proxy();
  const events = new Events();
  const { owner } = await pair(proxy.url, events);
  let accepted = 0;
  const log = (event: AgentLogEvent): void => {
    if (event.event === "accepted" && ++accepted === 3) proxy.swallow();
  };
  const slow = await network.agent("slow", proxy.url, (event) => {
    events.log(event);
    log(event);
  });
  const finish = Promise.withResolvers<void>();
  slow.serve("wait", async ({ input }) => {
    await finish.promise;
    return input;
  });
  await slow.start();
  const handoffs = [1, 2, 3].map((input) =>
    owner.handoff({ to: "slow", capability: "wait", input, timeoutMs: 120_000 }),
  );
  await events.count("detached", 3);
  for (const { error } of events.of("detached")) expect(error).toMatchObject({ status: 503 });
  finish.resolve();
  const results = await Promise.all(handoffs.map(({ result }) => result));
  expect(results.map(({ output }) => output)).toEqual([1, 2, 3]);
  await handOff(owner, 1);
});

test("a hub that restarts while work is running loses nothing", async () => {
  network = await Network.open();
  const proxy = await network.proxy();
  const events = new Events();
  const { owner } = await pair(proxy.url, events);
  let finished = 0;
  let restarts = 0;
  let restarted = Promise.resolve();
  const restart = async (): Promise<void> => {
    const port = await network.down();
    await network.up(network.key, network.store, port);
    restarts++;
  };
  const worker = await network.agent("counter", proxy.url, ({ event }) => {
    if (event === "finished" && ++finished % 10 === 0 && finished <= 40) {
      restarted = restarted.then(restart);
    }
  });
  worker.serve<number>({ ...CAPABILITY, name: "count" }, ({ input }) => input);
  await worker.start();
  const inputs = Array.from({ length: 50 }, (_, index) => index);
  const outputs = inputs.map(async (input) => {
    const handoff = owner.handoff({ capability: "count", input, timeoutMs: 120_000 });
    const { output } = await handoff.result;
    await handoff.acknowledge();
    return output;
  });
  expect(await Promise.all(outputs)).toEqual(inputs);
  await restarted;
  expect(restarts).toBe(4);
  await handOff(owner, 1);
});

import { generateKey } from "@waybill/protocol";
import { expect, test } from "vitest";
import { createAgent } from "./agent.ts";
import { Network } from "./connect/served-fixture.ts";
import { WaybillError } from "./index.ts";
import type { HandoffHandle, Handler } from "./index.ts";
import type { DeltaEvent } from "./delegating/events.ts";
import { settled, World } from "./world-fixture.ts";

const TOKENS: readonly string[] = Array.from({ length: 1_500 }, (_, index) => `${index} `);

async function read(deltas: AsyncIterable<DeltaEvent>): Promise<DeltaEvent[]> {
  const all: DeltaEvent[] = [];
  for await (const delta of deltas) all.push(delta);
  return all;
}

const textOf = (deltas: readonly DeltaEvent[]): string => deltas.map(({ text }) => text).join("");

/** A world with the given worker, and the deltas that its delegator reads. */
async function reading(handler: Handler): Promise<{ world: World; handoff: HandoffHandle }> {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("write", handler);
  await worker.start();
  const handoff = world.agent("owner").handoff({ capability: "write", input: null });
  // Reading once makes the handle keep deltas from here on.
  void handoff.deltas;
  return { world, handoff };
}

test("1,500 tokens are shown in a few deltas, and none of them is on record", async () => {
  const { world, handoff } = await reading(({ delta }) => {
    for (const token of TOKENS) delta(token);
    return TOKENS.join("");
  });
  const { output } = await handoff.result;
  const shown = await read(handoff.deltas);
  expect(textOf(shown)).toBe(output);
  expect(shown.length).toBeLessThan(10);
  expect(shown.map(({ number }) => number)).toEqual(shown.map((_, index) => index));
  for (const { by, attempt } of shown) expect([by, attempt]).toEqual(["worker", 1]);
  expect(await world.kinds(handoff.id)).not.toContain("progress");
  expect((await world.check()).violations).toEqual([]);
});

test("the first delta is sent at once, and further ones every 50 ms", async () => {
  const { promise: go, resolve } = Promise.withResolvers<void>();
  const { world, handoff } = await reading(async ({ delta }) => {
    for (const letter of "abc") delta(letter);
    await go;
    return "abc";
  });
  const deltas = handoff.deltas[Symbol.asyncIterator]();
  const first = await deltas.next();
  expect(first.value).toMatchObject({ number: 0, text: "a" });
  const second = deltas.next();
  await world.clock.advance(49);
  expect(await Promise.race([second, settled()])).toBeUndefined();
  await world.clock.advance(1);
  expect((await second).value).toMatchObject({ number: 1, text: "bc" });
  resolve();
  await handoff.result;
});

test("a split surrogate pair is shown whole, and what JSON can't hold is left out", async () => {
  const { handoff } = await reading(({ delta }) => {
    const whole = `🧾`;
    delta(`x${whole[0]}`);
    delta(`${whole[1]}\0y`);
    delta(`z${whole[0]}`);
    delta("🧾".repeat(5_000));
    return "done";
  });
  await handoff.result;
  const shown = await read(handoff.deltas);
  expect(textOf(shown)).toBe(`x🧾yz\ufffd${"🧾".repeat(5_000)}`);
  for (const { text } of shown) {
    expect(text.length).toBeLessThanOrEqual(4_096);
    expect(text.isWellFormed()).toBe(true);
  }
});

test("deltas of another attempt begin again, with that attempt's number", async () => {
  const { handoff, world } = await reading(({ attempt, delta }) => {
    delta(attempt === 1 ? "a wrong" : "the right");
    if (attempt === 1) throw new WaybillError(300, "Not now.");
    return "the right";
  });
  await handoff.custody;
  await world.clock.advance(60_000);
  await handoff.result;
  const shown = await read(handoff.deltas);
  expect(shown).toMatchObject([
    { attempt: 1, number: 0, text: "a wrong" },
    { attempt: 2, number: 0, text: "the right" },
  ]);
});

test("a recipient that writes endlessly does not fill the memory of a reader", async () => {
  const world = await World.open({ limits: { deltasPerSecond: 1_000_000 } });
  const worker = world.agent("worker");
  const { promise: writer, resolve: writes } = Promise.withResolvers<(text: string) => void>();
  const { promise: end, resolve: stop } = Promise.withResolvers<string>();
  worker.serve("write", ({ delta }) => {
    writes(delta);
    return end;
  });
  await worker.start();
  const handoff = world.agent("owner").handoff({ capability: "write", input: null });
  const shown = read(handoff.deltas);
  const write = await writer;
  for (let count = 0; count < 24; count++) {
    write("x".repeat(256 * 1024));
    await world.clock.advance(50);
  }
  stop("done");
  await handoff.result;
  const { length } = textOf(await shown);
  expect(length).toBe(4 * 1024 * 1024);
});

test("deltas are kept only from the first read on", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  const { promise: late, resolve } = Promise.withResolvers<void>();
  worker.serve("write", async ({ delta }) => {
    delta("early ");
    await late;
    delta("late");
    return "early late";
  });
  await worker.start();
  const handoff = world.agent("owner").handoff({ capability: "write", input: null });
  await handoff.accepted;
  const deltas = read(handoff.deltas);
  resolve();
  await handoff.result;
  expect(textOf(await deltas)).toBe("late");
  // After the end there is nothing to wait for.
  expect(await read(handoff.deltas)).toEqual([]);
});

test("deltas arrive over the network before the result, and across hops", async () => {
  const network = await Network.open();
  const agent = async (id: string) =>
    createAgent({ id, key: generateKey(), hub: await network.connect() });
  const [owner, relay, writer] = [
    await agent("owner"),
    await agent("relay"),
    await agent("writer"),
  ];
  writer.serve("write", ({ delta }) => {
    for (const token of TOKENS) delta(token);
    return "written";
  });
  relay.serve("relay", async ({ handoff, delta }) => {
    const child = handoff({ capability: "write", input: null });
    for await (const { text } of child.deltas) delta(text);
    return (await child.result).output as string;
  });
  await Promise.all([writer.start(), relay.start()]);
  const handoff = owner.handoff({ capability: "relay", input: null });
  const shown = await read(handoff.deltas);
  await handoff.result;
  expect(textOf(shown)).toBe(TOKENS.join(""));
  for (const { by } of shown) expect(by).toBe("relay");
  await Promise.all([owner, relay, writer].map((each) => each.stop()));
  expect(await network.violations()).toEqual([]);
  await network.close();
});

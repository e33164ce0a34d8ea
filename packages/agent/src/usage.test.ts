import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { Usage, UsageRow } from "@waybill/protocol";
import { expect, test } from "vitest";
import { capability } from "./index.ts";
import type { Handler } from "./index.ts";
import { settled, World } from "./world-fixture.ts";

const row = (input_tokens: number, model = "m"): UsageRow => ({ model, requests: 1, input_tokens });

/** The usage in the recipients' results and pauses of a handoff, in order. */
async function saidUsage(world: World, handoffId: string): Promise<(Usage | undefined)[]> {
  return (await world.history()).flatMap((entry) => {
    if (entry.type !== "envelope" || entry.envelope.handoff_id !== handoffId) return [];
    const { envelope } = entry;
    const isSaid = envelope.kind === "result" || envelope.kind === "question";
    return isSaid ? [envelope.body.usage] : [];
  });
}

async function served(world: World, id: string, name: string, handler: Handler): Promise<void> {
  const agent = world.agent(id);
  agent.serve(name, handler);
  await agent.start();
}

test("a result reports what its handler has added, one row for each model", async () => {
  const world = await World.open();
  await served(world, "worker", "work", ({ addUsage }) => {
    addUsage({ ...row(3), cost: { amount: "0.1", currency: "USD" } });
    addUsage({ ...row(4), cost: { amount: "0.2", currency: "USD" } });
    addUsage({ ...row(10, "other"), output_tokens: 5 });
    return "done";
  });
  const handoff = world.agent("owner").handoff({ capability: "work" });
  const { usage, envelope } = await handoff.result;
  const own = [
    { ...row(7), requests: 2, cost: { amount: "0.3", currency: "USD" } },
    { ...row(10, "other"), output_tokens: 5 },
  ];
  expect(usage).toEqual({
    total: {
      requests: 3,
      input_tokens: 17,
      cached_input_tokens: 0,
      output_tokens: 5,
      reasoning_tokens: 0,
      costs: [{ amount: "0.3", currency: "USD" }],
    },
    rows: own,
    own,
    earlier: [],
    children: [],
    handoffs: [],
  });
  expect(handoff.usage).toEqual(usage);
  expect(parseEnvelope(readCompact(envelope).payload).body).toMatchObject({ usage: { own } });
});

test("a result whose handler has added nothing reports no usage", async () => {
  const world = await World.open();
  await served(world, "worker", "work", () => "done");
  const handoff = world.agent("owner").handoff({ capability: "work" });
  const { usage, envelope } = await handoff.result;
  expect(usage).toBeUndefined();
  expect(parseEnvelope(readCompact(envelope).payload).body).not.toHaveProperty("usage");
});

test("a failure reports its usage, and its delegator reads it from the handle", async () => {
  const world = await World.open();
  await served(world, "worker", "work", ({ addUsage }) => {
    addUsage(row(3));
    throw new WaybillError(500, "it broke");
  });
  const handoff = world.agent("owner").handoff({ capability: "work" });
  await expect(handoff.result).rejects.toMatchObject({ status: 500 });
  expect(handoff.usage?.total).toMatchObject({ input_tokens: 3 });
});

test("an output that can't be sent still reports its usage", async () => {
  const world = await World.open();
  await served(world, "worker", "work", ({ addUsage }) => {
    addUsage(row(3));
    return "x".repeat(2 ** 21);
  });
  const handoff = world.agent("owner").handoff({ capability: "work" });
  await expect(handoff.result).rejects.toMatchObject({ status: 413 });
  expect(handoff.usage?.total).toMatchObject({ input_tokens: 3 });
});

test.each<[string, UsageRow]>([
  ["a negative count", { input_tokens: -1 }],
  ["a count that is no number", { output_tokens: Number.NaN }],
  ["a cost as a number", { cost: 0.5 } as never],
  ["more cached tokens than input tokens", { cached_input_tokens: 1 }],
])("a handler that adds %s gets a 400 that names the place", async (_what, wrong) => {
  const world = await World.open();
  let refusal: unknown;
  await served(world, "worker", "work", ({ addUsage }) => {
    try {
      addUsage(wrong);
    } catch (error) {
      refusal = error;
    }
    return "done";
  });
  await world.agent("owner").handoff({ capability: "work" }).result;
  expect(refusal).toMatchObject({
    status: 400,
    message: expect.stringContaining("usage") as string,
  });
});

test("usage of children is added, failed ones included, and each counts once", async () => {
  const world = await World.open();
  await served(world, "leaf", "leaf", ({ addUsage, input }) => {
    addUsage(row(100, "leaf"));
    if (input === "fail") throw new Error("it broke");
    return "leaf";
  });
  await served(world, "middle", "middle", async ({ addUsage, handoff }) => {
    addUsage(row(10, "middle"));
    const leaf = handoff({ capability: "leaf" });
    await leaf.result;
    const again = handoff({ capability: "leaf", handoffId: leaf.id });
    await again.result;
    await handoff({ capability: "leaf", input: "fail" }).result.catch(() => undefined);
    return "middle";
  });
  await served(world, "top", "top", async ({ addUsage, handoff }) => {
    addUsage(row(1, "top"));
    await handoff(capability({ name: "middle" }), {}).result;
    return "top";
  });
  const { usage } = await world.agent("owner").handoff({ capability: "top" }).result;
  expect(usage?.total).toMatchObject({ requests: 4, input_tokens: 211 });
  expect(usage?.own).toEqual([row(1, "top")]);
  expect(usage?.children).toEqual([row(10, "middle"), { ...row(200, "leaf"), requests: 2 }]);
  expect(usage?.handoffs).toHaveLength(1);
});

test("a child that a later attempt finds again counts once, and failed attempts stay on record", async () => {
  const world = await World.open();
  await served(world, "leaf", "leaf", ({ addUsage }) => {
    addUsage(row(100, "leaf"));
    return "leaf";
  });
  await served(world, "top", "top", async ({ addUsage, handoff, handoffId, attempt }) => {
    addUsage(row(attempt, "top"));
    const step = `${handoffId.slice(0, -1)}${handoffId.endsWith("0") ? 1 : 0}`;
    await handoff({ capability: "leaf", handoffId: step }).result;
    if (attempt === 1) throw new WaybillError(500, "once more", { retryable: true });
    return "top";
  });
  const handoff = world.agent("owner").handoff({ capability: "top", timeoutMs: 600_000 });
  await handoff.custody;
  await world.clock.advance(60_000);
  const { usage, attempt } = await handoff.result;
  expect(attempt).toBe(2);
  expect(usage?.own).toEqual([row(2, "top")]);
  expect(usage?.children).toEqual([row(100, "leaf")]);
  const said = await saidUsage(world, handoff.id);
  expect(said.map((each) => each?.own)).toEqual([[row(1, "top")], [row(2, "top")]]);
});

test("a pause reports its usage so far, and the result after a restart adds to it", async () => {
  const world = await World.open();
  await served(world, "leaf", "leaf", ({ addUsage }) => {
    addUsage(row(100, "leaf"));
    return "leaf";
  });
  const top = () => {
    const agent = world.agent("top");
    agent.serve("top", async ({ addUsage, handoff, handoffId, resume, pause }) => {
      addUsage(row(resume === undefined ? 1 : 2, "top"));
      const step = `${handoffId.slice(0, -1)}${handoffId.endsWith("0") ? 1 : 0}`;
      await handoff({ capability: "leaf", handoffId: step }).result;
      return resume === undefined ? pause({ id: "ok", text: "Go on?" }, "half done") : "top";
    });
    return agent;
  };
  const first = top();
  await first.start();
  const handoff = world.agent("owner").handoff({ capability: "top" });
  for await (const question of handoff.questions) {
    await first.stop();
    const second = top();
    await second.start();
    await handoff.answer(question.id, "yes");
    break;
  }
  const { usage } = await handoff.result;
  expect(usage).toMatchObject({
    own: [row(2, "top")],
    earlier: [row(1, "top")],
    children: [row(100, "leaf")],
  });
  expect(usage?.total).toMatchObject({ input_tokens: 103, requests: 3 });
  await settled();
  const [paused, ended] = await saidUsage(world, handoff.id);
  expect(paused).toEqual({
    own: [row(1, "top")],
    children: [row(100, "leaf")],
    handoffs: ended!.handoffs,
  });
});

test("a restarted delegator reads the usage of handoffs that have ended meanwhile", async () => {
  const world = await World.open();
  await served(world, "worker", "work", ({ addUsage }) => {
    addUsage(row(3));
    return "done";
  });
  const owner = world.agent("owner");
  const { id } = owner.handoff({ capability: "work", acknowledge: "manual" });
  await settled();
  await owner.stop();
  const found = await world.agent("owner").attach(id);
  expect((await found.result).usage?.total).toMatchObject({ input_tokens: 3 });
});

import { refusalText, WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { World } from "./world-fixture.ts";

const RESEARCH = { name: "research", input_schema: { topic: "string", depth: "int" } } as const;

async function researcher(
  world: World,
  id: string,
  schema: object = RESEARCH.input_schema,
): Promise<Agent> {
  const agent = world.agent(id);
  agent.serve({ ...RESEARCH, input_schema: schema }, () => "done");
  await agent.start();
  return agent;
}

async function refusalOf(work: Promise<unknown>): Promise<WaybillError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!WaybillError.is(error)) throw new Error("It was not refused.");
  return error;
}

test("WB-100 an input that everybody refuses is answered 422 before custody, with each one's reasons", async () => {
  const world = await World.open();
  await researcher(world, "a");
  const away = await researcher(world, "b", { topic: "string", depth: "string", lang: "string" });
  await away.stop();
  const owner = world.agent("owner");
  const before = (await world.history()).length;
  const handoff = owner.handoff({ capability: "research", input: { topic: "tides", depth: true } });
  const error = await refusalOf(handoff.custody);
  expect(error).toMatchObject({ status: 422, at: "/body/input" });
  expect(
    error.refusals?.map(({ agent_id, issues }) => [agent_id, issues.map(({ at }) => at)]),
  ).toEqual([
    ["a", ["/depth"]],
    ["b", expect.arrayContaining(["/depth"])],
  ]);
  expect(error.message).toContain(refusalText(error.refusals!));
  expect(error.message).toMatch(/a refuses the input: \/depth: .*integer/);
  await expect(handoff.result).rejects.toMatchObject({ status: 422 });
  expect(await world.server.handoff(handoff.id, "owner")).toBeUndefined();
  // The owner's own manifest is all that was written.
  expect((await world.history()).length).toBeLessThanOrEqual(before + 1);
});

test("WB-100 an input is taken as soon as one candidate takes it, though that one is away", async () => {
  const world = await World.open();
  await researcher(world, "a");
  const away = await researcher(world, "b", { topic: "string", depth: "boolean" });
  await away.stop();
  const owner = world.agent("owner");
  const handoff = owner.handoff({ capability: "research", input: { topic: "tides", depth: true } });
  await handoff.custody;
  await researcher(world, "b", { topic: "string", depth: "boolean" });
  await expect(handoff.result).resolves.toMatchObject({ output: "done", by: "b" });
});

test("WB-100 the agent that a handoff names refuses in the same way, connected or not", async () => {
  const world = await World.open();
  const agent = await researcher(world, "a");
  const owner = world.agent("owner");
  const wrong = { to: "a", capability: "research", input: { topic: 7, depth: 1 } };
  await expect(owner.handoff(wrong).custody).rejects.toMatchObject({ status: 422 });
  await agent.stop();
  await expect(owner.handoff(wrong).custody).rejects.toMatchObject({ status: 422 });
});

test("WB-100 no input, where everybody needs one, is refused too, unless words will do", async () => {
  const world = await World.open();
  await researcher(world, "a");
  const owner = world.agent("owner");
  await expect(owner.handoff({ capability: "research" }).custody).rejects.toMatchObject({
    status: 422,
    refusals: [{ agent_id: "a", issues: [{ at: "", message: "is missing" }] }],
  });
  const talker = world.agent("talker");
  talker.serve({ ...RESEARCH, name: "talk", takes: "conversation" }, () => "heard");
  await talker.start();
  const brief = { instruction: "Look up the tides." };
  await expect(owner.handoff({ capability: "talk", brief }).result).resolves.toMatchObject({
    output: "heard",
  });
});

test("WB-100 a schema that costs more than the budget refuses nothing", async () => {
  const world = await World.open();
  const costly = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "array",
    items: { allOf: Array.from({ length: 200 }, (_, index) => ({ not: { const: index } })) },
  };
  await researcher(world, "a", costly);
  const input = [...Array.from({ length: 100_000 }, () => -1), 7];
  await expect(
    world.agent("owner").handoff({ capability: "research", input }).custody,
  ).resolves.toBeDefined();
});

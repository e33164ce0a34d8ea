import { WaybillError } from "@waybill/protocol";
import { refusalText } from "@waybill/protocol/hub";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { refusalOf, World } from "./world-fixture.ts";

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

const text = (part: string): string => expect.stringContaining(part) as string;

test("WB-100 an input that every candidate refuses is answered 422 before custody, with each one's reasons", async () => {
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
  // Only the delegator's own manifest was written.
  expect((await world.history()).length).toBeLessThanOrEqual(before + 1);
});

test("WB-100 an input is taken if one candidate accepts it, even one that is not connected", async () => {
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

test("WB-100 a missing input that every candidate needs is refused too, unless words will do", async () => {
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

test("WB-100 a dead letter names the most relevant cause, and the delegator is told why work waits", async () => {
  const world = await World.open();
  await researcher(world, "a");
  const away = await researcher(world, "b", { topic: "string", depth: "boolean" });
  await away.stop();
  const owner = world.agent("owner");
  const input = { topic: "tides", depth: true };
  const handoff = owner.handoff({ capability: "research", input, timeoutMs: 60_000 });
  await handoff.custody;
  expect((await world.server.handoff(handoff.id, "owner"))?.waitsFor).toEqual([
    { agent_id: "a", why: "input", reason: text("refuses the input: /depth: ") },
    { agent_id: "b", why: "away", reason: "is not connected" },
  ]);
  const ended = refusalOf(handoff.result);
  await world.clock.advance(61_000);
  expect(await ended).toMatchObject({
    status: 504,
    message: text("a refuses the input: /depth: "),
  });
  const [letter] = await world.server.deadLetters.list({ limit: 1 });
  expect(letter?.reason).toMatch(/has passed; a refuses the input: \/depth: .*integer.*\.$/);
});

test("WB-100 a dead letter that was attempted quotes its recipient", async () => {
  const world = await World.open({ terms: { backoffMs: 10 } });
  const agent = world.agent("a");
  agent.serve({ name: "research", max_attempts: 9 }, () => {
    throw new WaybillError(500, "the library is closed", { retryable: true });
  });
  await agent.start();
  const handoff = world.agent("owner").handoff({ capability: "research", timeoutMs: 60_000 });
  await handoff.custody;
  await world.clock.advance(5);
  await agent.stop();
  const ended = refusalOf(handoff.result);
  await world.clock.advance(61_000);
  expect((await ended).message).toMatch(
    /a said: the library is closed; then a is not connected\.$/,
  );
});

test("WB-100 a dead letter says if the candidates only lacked room or were not connected", async () => {
  const world = await World.open();
  const agent = world.agent("a", { credit: 1 });
  agent.serve("research", () => new Promise(() => undefined));
  await agent.start();
  const owner = world.agent("owner");
  await owner.handoff({ capability: "research", timeoutMs: 900_000 }).accepted;
  const second = owner.handoff({ capability: "research", timeoutMs: 60_000 });
  await second.custody;
  const ended = refusalOf(second.result);
  await world.clock.advance(61_000);
  expect((await ended).message).toMatch(/a has no room: it works on 1\.$/);
});

import type { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { refusalOf, settled, World } from "./world-fixture.ts";

const WORK = { to: "worker", capability: "work" };

async function worker(world: World, from?: { groups: string[] }): Promise<Agent> {
  const agent = world.agent("worker");
  agent.serve({ name: "work", from }, () => "done");
  await agent.start();
  return agent;
}

/** How many of these handoffs were taken into custody; the others were refused with 301. */
async function takenOf(
  handoffs: readonly { readonly custody: Promise<unknown> }[],
): Promise<number> {
  const ended = await Promise.allSettled(handoffs.map(({ custody }) => custody));
  for (const each of ended) {
    if (each.status === "fulfilled") continue;
    expect(each.reason).toMatchObject({ status: 301, retryable: true });
    expect((each.reason as WaybillError).retryAfterMs).toBeGreaterThan(0);
  }
  return ended.filter(({ status }) => status === "fulfilled").length;
}

/** Hands off without waiting for the result. */
function handOff(agent: Agent, count: number, capability = "work") {
  return Array.from({ length: count }, () => {
    const handoff = agent.handoff({ capability, timeoutMs: 3_600_000 });
    handoff.result.catch(() => undefined);
    return handoff;
  });
}

test("WB-211 an operator admits an agent to a group, and removes it again", async () => {
  const world = await World.open();
  const { operator } = world.server;
  await worker(world, { groups: ["partners"] });
  const anna = world.agent("anna");
  await expect(anna.handoff(WORK).custody).rejects.toMatchObject({ status: 403 });
  await operator.changeGroup("partners", { add: ["anna", "ben"] });
  await expect(anna.handoff(WORK).result).resolves.toMatchObject({ output: "done" });
  await expect(anna.handoff({ capability: "work" }).result).resolves.toMatchObject({
    by: "worker",
  });
  const asker = { agent: "anna", kid: world.key("anna").kid };
  expect((await world.server.find({ capability: "work" }, asker)).fits).toHaveLength(1);
  await operator.changeGroup("partners", { remove: ["anna"] });
  await expect(anna.handoff(WORK).custody).rejects.toMatchObject({ status: 403 });
  expect((await world.server.find({ capability: "work" }, asker)).fits).toHaveLength(0);
  await operator.removeGroup("partners");
  await expect(world.agent("ben").handoff(WORK).custody).rejects.toMatchObject({ status: 403 });
});

test("WB-211 waiting work is offered to the recipients that its delegator's new group allows", async () => {
  const world = await World.open();
  const away = world.agent("away");
  away.serve("work", () => "by away");
  await away.start();
  await away.stop();
  await worker(world, { groups: ["partners"] });
  const handoff = world.agent("anna").handoff({ capability: "work" });
  await handoff.custody;
  await settled();
  expect((await world.server.handoff(handoff.id, "anna"))?.waitsFor).toEqual([
    { agent_id: "away", why: "away", reason: "is not connected" },
  ]);
  await world.server.operator.changeGroup("partners", { add: ["anna"] });
  await expect(handoff.result).resolves.toMatchObject({ by: "worker" });
});

test("groups survive a restart of the hub, and every change is on record", async () => {
  const world = await World.open();
  await world.server.operator.changeGroup("partners", { add: ["ben", "anna"] });
  await world.server.operator.setQuota("partners", { open: 3, per_minute: 7 });
  await world.server.operator.changeGroup("partners", { add: ["carl"], remove: ["ben", "dora"] });
  await world.down();
  await world.up();
  const { operator } = world.server;
  const group = { name: "partners", members: ["anna", "carl"], quota: { open: 3, per_minute: 7 } };
  expect(await operator.group("partners")).toEqual(group);
  expect(await operator.groups({ limit: 10 })).toEqual([group]);
  await operator.removeGroup("partners");
  await expect(operator.group("partners")).rejects.toMatchObject({ status: 404 });
  const entries = await world.store.ledger({ limit: 100 });
  const acts = entries.flatMap(({ type, content }) => {
    const act = type === "decision" ? (JSON.parse(content) as { type: string }) : { type };
    return act.type.startsWith("group_") ? [act] : [];
  });
  expect(acts).toEqual([
    { type: "group_changed", group: "partners", added: ["ben", "anna"], removed: [] },
    { type: "group_quota", group: "partners", open: 3, per_minute: 7 },
    { type: "group_changed", group: "partners", added: ["carl"], removed: ["ben"] },
    { type: "group_removed", group: "partners" },
  ]);
});

test("hubs over one store share groups, and no concurrent change is lost", async () => {
  const world = await World.open();
  const other = await world.openServer();
  const agents = Array.from({ length: 4 }, (_, index) => `agent-${index}`);
  await Promise.all(
    agents.map((agent, index) =>
      (index % 2 === 0 ? world.server : other).operator.changeGroup("g", { add: [agent] }),
    ),
  );
  for (const { operator } of [world.server, other]) {
    expect((await operator.group("g")).members).toEqual(agents);
  }
  await other.close();
});

test("groups are bounded, and malformed ones are refused", async () => {
  const world = await World.open();
  const { operator } = world.server;
  const agents = (count: number, start = 0) =>
    Array.from({ length: count }, (_, index) => `agent-${start + index}`);
  await operator.changeGroup("full", { add: agents(1_000) });
  await expect(operator.changeGroup("full", { add: ["one-more"] })).rejects.toMatchObject({
    status: 413,
  });
  for (let index = 0; index < 15; index++)
    await operator.changeGroup(`g-${index}`, { add: ["agent-0"] });
  await expect(operator.changeGroup("g-15", { add: ["agent-0"] })).rejects.toMatchObject({
    status: 413,
  });
  await expect(operator.changeGroup("My friends", { add: ["a"] })).rejects.toMatchObject({
    status: 400,
  });
  await expect(operator.changeGroup("g", { add: ["My friend"] })).rejects.toMatchObject({
    status: 400,
  });
  await expect(operator.changeGroup("unknown", { remove: ["a"] })).rejects.toMatchObject({
    status: 404,
  });
});

test("WB-214 the members of a group together never exceed its quota of open handoffs, even concurrently", async () => {
  const world = await World.open();
  const away = await worker(world);
  await away.stop();
  const { operator } = world.server;
  await operator.changeGroup("g", { add: ["anna", "ben"] });
  await operator.setQuota("g", { open: 5 });
  const members = [world.agent("anna"), world.agent("ben")] as const;
  await Promise.all(members.map((each) => each.start()));
  const handoffs = members.flatMap((each) => handOff(each, 10));
  expect(await takenOf(handoffs)).toBe(5);
  expect(await takenOf(handOff(world.agent("carl"), 10))).toBe(10);
  // The end of one frees its place.
  const [taken] = (
    await Promise.all(
      handoffs.map(async (each) => ((await each.custody.catch(() => undefined)) ? [each] : [])),
    )
  ).flat();
  await taken!.cancel();
  await taken!.result.catch(() => undefined);
  await settled();
  expect(await takenOf(handOff(members[1], 3))).toBe(1);
});

test("WB-214 the members of a group submit no more in a minute than its quota, in a sliding window", async () => {
  const world = await World.open();
  await worker(world);
  const { operator } = world.server;
  await operator.changeGroup("g", { add: ["anna", "ben"] });
  await operator.setQuota("g", { per_minute: 4 });
  const members = [world.agent("anna"), world.agent("ben")] as const;
  await Promise.all(members.map((each) => each.start()));
  expect(await takenOf(handOff(members[0], 2))).toBe(2);
  await world.clock.advance(20_000);
  expect(await takenOf(members.flatMap((each) => handOff(each, 5)))).toBe(2);
  await world.clock.advance(39_000);
  const error = await refusalOf(handOff(members[0], 1)[0]!.custody);
  expect(error.status).toBe(301);
  expect(error.retryAfterMs).toBeLessThanOrEqual(1_000);
  await world.clock.advance(1_100);
  expect(await takenOf(handOff(members[1], 5))).toBe(2);
  await world.clock.advance(20_000);
  expect(await takenOf(handOff(members[1], 5))).toBe(2);
});

test("WB-214 a restart of the hub does not reset the use of a quota", async () => {
  const world = await World.open();
  const away = await worker(world);
  await away.stop();
  const { operator } = world.server;
  await operator.changeGroup("open", { add: ["anna"] });
  await operator.setQuota("open", { open: 3 });
  await operator.changeGroup("minute", { add: ["ben"] });
  await operator.setQuota("minute", { per_minute: 3 });
  const anna = world.agent("anna");
  const ben = world.agent("ben");
  await Promise.all([anna.start(), ben.start()]);
  expect(await takenOf([...handOff(anna, 2), ...handOff(ben, 2)])).toBe(4);
  await world.down();
  await world.up();
  await settled();
  // Agents of another process: the earlier ones would retry their submissions.
  const [annaAgain, benAgain] = [world.agent("anna"), world.agent("ben")];
  expect(await takenOf(handOff(annaAgain, 4))).toBe(1);
  expect(await takenOf(handOff(benAgain, 4))).toBe(1);
});

test("WB-214 two hubs over one store share a quota for a minute", async () => {
  const world = await World.open();
  const away = await worker(world);
  await away.stop();
  const other = await world.openServer();
  await world.server.operator.changeGroup("g", { add: ["anna", "ben"] });
  await world.server.operator.setQuota("g", { per_minute: 6 });
  const anna = world.agent("anna");
  const ben = world.agent("ben", { hub: { ...world.hub, submit: (text) => other.submit(text) } });
  await Promise.all([anna.start(), ben.start()]);
  expect(await takenOf([...handOff(anna, 8), ...handOff(ben, 8)])).toBe(6);
  await other.close();
});

test("WB-214 an agent in several groups is held to the quota of each", async () => {
  const world = await World.open();
  const away = await worker(world);
  await away.stop();
  const { operator } = world.server;
  await operator.changeGroup("wide", { add: ["anna"] });
  await operator.changeGroup("narrow", { add: ["anna", "ben"] });
  await operator.setQuota("wide", { open: 10, per_minute: 5 });
  await operator.setQuota("narrow", { open: 3 });
  const anna = world.agent("anna");
  await anna.start();
  expect(await takenOf(handOff(anna, 10))).toBe(3);
  await operator.setQuota("narrow", {});
  expect(await takenOf(handOff(anna, 10))).toBe(2);
});

test("WB-214 a handoff that is refused for another reason uses no quota", async () => {
  const world = await World.open();
  const away = await worker(world);
  await away.stop();
  await world.server.operator.changeGroup("g", { add: ["anna"] });
  await world.server.operator.setQuota("g", { open: 2, per_minute: 2 });
  const anna = world.agent("anna");
  await anna.start();
  for (const each of handOff(anna, 5, "unknown")) {
    await expect(each.custody).rejects.toMatchObject({ status: 404 });
  }
  expect(await takenOf(handOff(anna, 5))).toBe(2);
});

import { digestOfJws, generateKey, newId, signManifest, WaybillError } from "@waybill/protocol";
import type { CapabilityInput } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { capability } from "./capability/capability.ts";
import { refusalOf, settled, World } from "./world-fixture.ts";

const RESEARCH = { name: "research", max_attempts: 9 };

async function worker(
  world: World,
  id: string,
  from?: CapabilityInput["from"],
  work: () => string = () => `by ${id}`,
): Promise<Agent> {
  const agent = world.agent(id);
  agent.serve({ ...RESEARCH, from }, work);
  await agent.start();
  return agent;
}

/** Publishes from whom an agent takes work from now on, as its operator would by restarting it. */
async function restart(world: World, agent: Agent, from?: CapabilityInput["from"]): Promise<Agent> {
  await agent.stop();
  return worker(world, agent.id, from);
}

test("WB-211 a recipient that takes no work from a delegator is refused with 403 before custody", async () => {
  const world = await World.open();
  await worker(world, "a", { agents: ["editor"] });
  const other = world.agent("other");
  const refused = other.handoff({ to: "a", capability: "research" });
  const error = await refusalOf(refused.custody);
  expect(error).toMatchObject({ status: 403, at: "/to" });
  expect(error.message).toContain("a does not take research from other");
  expect(await world.server.handoff(refused.id, "other")).toBeUndefined();
  const taken = world.agent("editor").handoff({ to: "a", capability: "research" });
  await expect(taken.result).resolves.toMatchObject({ output: "by a" });
  await world.check();
});

test("WB-211 a capability that nobody offers to a delegator is 404, with the same message as an unknown one", async () => {
  const world = await World.open();
  await worker(world, "a", { agents: ["editor"] });
  const other = world.agent("other");
  const { message, status } = await refusalOf(other.handoff({ capability: "research" }).custody);
  const unknown = await refusalOf(other.handoff({ capability: "cooking" }).custody);
  expect(status).toBe(404);
  expect(message.replaceAll("research", "cooking")).toBe(unknown.message);
  const { fits, leftOut } = await world.server.find(
    { capability: "research" },
    { agent: "other", kid: world.key("other").kid },
  );
  expect([fits, leftOut]).toEqual([[], []]);
});

test("WB-211 only agents that take work from the delegator are candidates", async () => {
  const world = await World.open();
  for (let index = 0; index < 4; index++) await worker(world, `a-${index}`, { agents: ["editor"] });
  await worker(world, "open");
  const other = world.agent("other");
  for (let index = 0; index < 8; index++) {
    const { result } = other.handoff({ capability: "research" });
    await expect(result).resolves.toMatchObject({ by: "open" });
  }
  await world.check();
});

test("WB-211 many offers for others do not hide the candidates behind them", async () => {
  const world = await World.open();
  for (let index = 0; index < 120; index++) {
    const capabilities = [{ ...RESEARCH, from: { agents: ["editor"] } }];
    const manifest = { agent_id: `a-${index}`, capabilities };
    await world.server.publish(signManifest(manifest, generateKey()));
  }
  await worker(world, "z");
  const { result } = world.agent("other").handoff({ capability: "research" });
  await expect(result).resolves.toMatchObject({ by: "z" });
});

test("WB-211 a named key matches any agent that signs with it", async () => {
  const world = await World.open();
  await worker(world, "a", { keys: [world.key("editor").kid] });
  const work = { to: "a", capability: "research" };
  await expect(world.agent("editor").handoff(work).result).resolves.toMatchObject({ by: "a" });
  await expect(world.agent("other").handoff(work).custody).rejects.toMatchObject({ status: 403 });
});

test("WB-211 a group that no operator has made matches nobody", async () => {
  const world = await World.open();
  await worker(world, "a", { groups: ["editor"] });
  const work = { to: "a", capability: "research" };
  await expect(world.agent("editor").handoff(work).custody).rejects.toMatchObject({ status: 403 });
});

test("WB-211 work that waits for a recipient which closes itself meanwhile is a dead letter, 403", async () => {
  const world = await World.open();
  const away = await worker(world, "a");
  await away.stop();
  const editor = world.agent("editor");
  const waiting = editor.handoff({ to: "a", capability: "research" });
  await waiting.custody;
  const ended = refusalOf(waiting.result);
  await worker(world, "a", { agents: ["anna"] });
  const error = await ended;
  expect(error.status).toBe(403);
  expect(error.message).toContain("a does not take research from editor any more");
  const [letter] = await world.server.deadLetters.list({ limit: 1 });
  expect(letter?.reason).toContain("a does not take research from editor any more");
  await world.check();
});

test("WB-211 waiting work goes to no agent that closes the capability, and keeps waiting while others may take it", async () => {
  const world = await World.open();
  const one = await worker(world, "a");
  const two = await worker(world, "b");
  await one.stop();
  await two.stop();
  const editor = world.agent("editor");
  const waiting = editor.handoff({ capability: "research" });
  await waiting.custody;
  await worker(world, "a", { agents: ["anna"] });
  await settled();
  expect((await world.server.handoff(waiting.id, "editor"))?.waitsFor).toEqual([
    { agent_id: "b", why: "away", reason: "is not connected" },
  ]);
  const ended = refusalOf(waiting.result);
  await worker(world, "b", { agents: ["anna"] });
  await world.clock.advance(1_000);
  await expect(ended).resolves.toMatchObject({ status: 404 });
  await world.check();
});

test("WB-211 a repeated offer goes to no agent that does not take work from the delegator", async () => {
  const world = await World.open({ terms: { backoffMs: 10 } });
  const release = () => {
    throw new WaybillError(300, "not now");
  };
  await worker(world, "a", undefined, release);
  await worker(world, "b", { agents: ["anna"] });
  const editor = world.agent("editor");
  const handoff = editor.handoff({ capability: "research", timeoutMs: 20_000 });
  const ended = refusalOf(handoff.result);
  await handoff.custody;
  await world.clock.advance(21_000);
  await ended;
  const asked = (await world.history()).flatMap((entry) =>
    entry.type === "event" && entry.event.type === "offer" ? [entry.event.recipient] : [],
  );
  expect(asked.length).toBeGreaterThan(1);
  expect(new Set(asked)).toEqual(new Set(["a"]));
});

test("WB-211 work with a later start is checked again at its start", async () => {
  const world = await World.open();
  const agent = await worker(world, "a");
  const editor = world.agent("editor");
  const notBefore = new Date(world.clock.now() + 10_000);
  const later = editor.handoff({ to: "a", capability: "research", notBefore });
  await later.custody;
  const ended = refusalOf(later.result);
  await restart(world, agent, { agents: ["anna"] });
  await world.clock.advance(11_000);
  await expect(ended).resolves.toMatchObject({ status: 403 });
});

test("WB-211 paused work resumes only while its recipient still takes work from the delegator", async () => {
  const world = await World.open();
  const agent = world.agent("a");
  agent.serve(RESEARCH, ({ pause }) => pause({ id: "style", text: "Which style?" }, "half done"));
  await agent.start();
  const editor = world.agent("editor");
  const handoff = editor.handoff({ to: "a", capability: "research" });
  const ended = refusalOf(handoff.result);
  for await (const question of handoff.questions) {
    await restart(world, agent, { agents: ["anna"] });
    await handoff.answer(question.id, "blue");
    break;
  }
  const error = await ended;
  expect(error.status).toBe(403);
  expect(error.message).toContain("a does not take research from editor any more");
  await world.check();
});

test("WB-211 the members of a fan-out are checked individually", async () => {
  const world = await World.open();
  await worker(world, "a", { agents: ["editor"] });
  const group = { id: newId(), size: 2, join: "all" } as const;
  const other = world.agent("other");
  const members = [0, 1].map((index) =>
    other.handoff({ to: "a", capability: "research", group: { ...group, index } }),
  );
  for (const { custody } of members) await expect(custody).rejects.toMatchObject({ status: 403 });
});

test("WB-211 a replay is checked for its signer, and refused if its recipient has closed itself", async () => {
  const world = await World.open();
  const away = await worker(world, "a");
  await away.stop();
  const editor = world.agent("editor");
  const work = { to: "a", capability: "research", timeoutMs: 5_000 };
  const handoff = editor.handoff(work);
  const ended = refusalOf(handoff.result);
  await handoff.custody;
  await world.clock.advance(6_000);
  await ended;
  await worker(world, "a", { agents: ["anna"] });
  const replay = editor.handoff({ ...work, replayOf: handoff.id });
  await expect(replay.custody).rejects.toMatchObject({ status: 403 });
  expect((await world.server.deadLetters.list({ limit: 1 }))[0]?.id).toBe(handoff.id);
});

test("WB-211 a declared capability states from whom it takes work, separately for each version", async () => {
  const world = await World.open();
  const agent = world.agent("a");
  const insider = capability({ name: "research", version: "2", from: { agents: ["editor"] } });
  // @ts-expect-error A list of names is meant.
  const misspelled = () => capability({ name: "research", from: { agents: "editor" } });
  expect(misspelled).toThrow(/from/);
  agent.serve(insider, () => "for editor");
  agent.serve(capability({ name: "research", version: "1" }), () => "for everybody");
  await agent.start();
  const work = { to: "a", capability: "research" };
  const [editor, other] = [world.agent("editor"), world.agent("other")];
  await expect(editor.handoff(work).result).resolves.toMatchObject({ output: "for editor" });
  await expect(other.handoff(work).result).resolves.toMatchObject({ output: "for everybody" });
  await expect(other.handoff({ ...work, version: "2" }).custody).rejects.toMatchObject({
    status: 403,
  });
});

test("WB-213 a recipient refuses what its capability does not take, whatever the hub says", async () => {
  const world = await World.open();
  await worker(world, "a", { agents: ["editor"] });
  // The hub has another manifest than the process that serves it.
  const { manifests } = await world.server.manifests({ agent: "a", newest: true });
  const open = {
    agent_id: "a",
    capabilities: [RESEARCH],
    sequence: 2,
    previous: digestOfJws(manifests[0]!.text),
  };
  await world.server.publish(signManifest(open, world.key("a")));
  const handoff = world.agent("other").handoff({ to: "a", capability: "research" });
  const error = await refusalOf(handoff.result);
  expect(error).toMatchObject({ status: 403 });
  expect(error.message).toContain("research is not for other");
});

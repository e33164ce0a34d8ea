import { readCompact, WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import type { HandoffHandle, HandoffOptions, Hub, Work } from "./index.ts";
import { lineTo, settled, World } from "./world-fixture.ts";

/** A worker that keeps its conversations. */
async function keeper(
  world: World,
  id: string,
  concurrency = 4,
  hub: Hub = world.hub,
): Promise<Agent> {
  const agent = world.agent(id, { hub });
  const turns = new Map<string, string[]>();
  agent.serve(
    { name: "chat", lease_seconds: 10, concurrency },
    async ({ input, session }: Work<string>) => {
      if (input === "wait") await new Promise(() => undefined);
      if (input === "crash") throw new WaybillError(500, "crashed", { retryable: true });
      const before = session && turns.get(session.key);
      session?.found(before !== undefined);
      const now = [...(before ?? []), input];
      if (session !== undefined) turns.set(session.key, now);
      return { by: id, turns: now };
    },
  );
  await agent.start();
  return agent;
}

function say(owner: Agent, input: string, options: Partial<HandoffOptions> = {}): HandoffHandle {
  return owner.handoff({ capability: "chat", input, timeoutMs: 600_000, ...options });
}

async function said(owner: Agent, input: string, options: Partial<HandoffOptions> = {}) {
  const handle = say(owner, input, options);
  const { output, session, by } = await handle.result;
  const { turns } = output as { turns: string[] };
  return { turns, session, by };
}

/** The ledger's entries about sessions, by handoff. */
async function onRecord(world: World, handoffId: string): Promise<unknown[]> {
  const entries = await world.store.ledgerOf(handoffId, { limit: 100 });
  return entries
    .filter(({ type }) => type === "decision")
    .map(({ content }) => JSON.parse(content) as { type: string; session?: unknown })
    .filter(({ type }) => type === "offer")
    .map(({ session }) => session);
}

test("WB-222 the holder of a session is preferred, and the result says that it was continued", async () => {
  const world = await World.open();
  const ids = ["a", "b", "c", "d", "e"];
  for (const id of ids) await keeper(world, id);
  const owner = world.agent("owner");
  for (const session of ["one", "two", "three"]) {
    const first = await said(owner, "1", { session });
    expect(first).toMatchObject({ turns: ["1"], session: "begun" });
    for (const turn of ["2", "3", "4", "5"]) {
      const next = await said(owner, turn, { session });
      expect(next).toMatchObject({ by: first.by, session: "continued" });
      expect(next.turns.at(-1)).toBe(turn);
      expect(next.turns).toHaveLength(Number(turn));
    }
  }
});

test("WB-221 the same session id of another delegator is another session", async () => {
  const world = await World.open();
  for (const id of ["a", "b"]) await keeper(world, id);
  const mine = await said(world.agent("owner"), "secret", { session: "one" });
  const others = await said(world.agent("stranger"), "tell", { session: "one" });
  expect(mine.session).toBe("begun");
  expect(others).toMatchObject({ turns: ["tell"], session: "begun" });
});

test("WB-223 an acceptance, the ledger and the view say what the hub knew of a session", async () => {
  const world = await World.open();
  await keeper(world, "a");
  const owner = world.agent("owner");
  await said(owner, "1", { session: "one" });
  const second = say(owner, "wait", { session: "one" });
  const accepted = await second.accepted;
  expect(accepted.session).toBe("continued");
  expect(JSON.parse(readCompact(second.text).payload.toString())).toMatchObject({
    session: { id: "one" },
  });
  expect(await world.hub.handoff(second.id, "owner")).toMatchObject({ session: "continued" });
  expect(await onRecord(world, second.id)).toEqual(["continued"]);
  const without = say(owner, "wait");
  expect((await without.accepted).session).toBeUndefined();
  expect(await onRecord(world, without.id)).toEqual([undefined]);
});

test("WB-223 if the holder is gone, the conversation begins again with another agent, and that is reported", async () => {
  const world = await World.open();
  const agents = new Map<string, Agent>();
  for (const id of ["a", "b"]) agents.set(id, await keeper(world, id));
  const owner = world.agent("owner");
  const { by } = await said(owner, "1", { session: "one" });
  await agents.get(by)!.stop();
  const next = say(owner, "2", { session: "one" });
  const result = await next.result;
  expect(result).toMatchObject({ output: { turns: ["2"] }, session: "lost" });
  expect(result.by).not.toBe(by);
  expect((await next.accepted).session).toBe("lost");
  expect(await onRecord(world, next.id)).toEqual(["lost"]);
  // From now on that agent is the holder.
  expect(await said(owner, "3", { session: "one" })).toMatchObject({
    by: result.by,
    turns: ["2", "3"],
    session: "continued",
  });
});

test("WB-222 a holder without room is not waited for by default", async () => {
  const world = await World.open();
  for (const id of ["a", "b"]) await keeper(world, id, 1);
  const owner = world.agent("owner");
  const { by } = await said(owner, "1", { session: "one" });
  const busy = say(owner, "wait", { to: by });
  await busy.accepted;
  const next = await said(owner, "2", { session: "one" });
  expect(next).toMatchObject({ session: "lost" });
  expect(next.by).not.toBe(by);
});

test("WB-222 a holder without room is waited for as long as the delegator asks, then others may take over", async () => {
  const world = await World.open();
  for (const id of ["a", "b"]) await keeper(world, id, 1);
  const owner = world.agent("owner");
  const { by } = await said(owner, "1", { session: "one" });
  const busy = say(owner, "wait", { to: by });
  await busy.accepted;
  const session = { id: "one", waitMs: 60_000 };
  const next = say(owner, "2", { session });
  await next.custody;
  await world.clock.advance(59_000);
  const view = await world.hub.handoff(next.id, "owner");
  expect(view).toMatchObject({ state: "open", attempts: [] });
  const other = by === "a" ? "b" : "a";
  expect(view!.waitsFor).toEqual([
    expect.objectContaining({ agent_id: by, why: "busy" }),
    expect.objectContaining({ agent_id: other, why: "session" }),
  ]);
  // The holder has room again in time.
  await busy.cancel();
  await settled();
  expect(await next.result).toMatchObject({ by, session: "continued" });
  // Now it has no room for longer than that.
  await say(owner, "wait", { to: by }).accepted;
  const late = say(owner, "3", { session });
  await late.custody;
  await world.clock.advance(60_001);
  expect(await late.result).toMatchObject({ by: other, session: "lost" });
});

test("WB-222 a holder that is away is waited for as long as the delegator asks, also across a restart of the hub", async () => {
  const world = await World.open();
  const agents = new Map<string, Agent>();
  for (const id of ["a", "b"]) agents.set(id, await keeper(world, id));
  const owner = world.agent("owner");
  const { by } = await said(owner, "1", { session: "one" });
  await agents.get(by)!.stop();
  const next = say(owner, "2", { session: { id: "one", waitMs: 60_000 } });
  await next.custody;
  await world.down();
  await world.up();
  await world.clock.advance(30_000);
  expect(await world.hub.handoff(next.id, "owner")).toMatchObject({ state: "open", attempts: [] });
  await keeper(world, by);
  await world.clock.advance(1_000);
  // Its conversations were in the process that has ended.
  expect(await next.result).toMatchObject({ by, output: { turns: ["2"] }, session: "lost" });
});

test("WB-222 a restarted hub knows the holder", async () => {
  const world = await World.open();
  for (const id of ["a", "b", "c", "d"]) await keeper(world, id);
  const owner = world.agent("owner");
  const { by } = await said(owner, "1", { session: "one" });
  for (let turn = 2; turn < 6; turn++) {
    await world.down();
    await world.up();
    await world.clock.advance(5_000);
    expect(await said(owner, String(turn), { session: "one" })).toMatchObject({
      by,
      session: "continued",
    });
  }
});

test("WB-222 another hub over the same store knows the holder", async () => {
  const world = await World.open();
  const ids = ["a", "b", "c", "d"];
  const agents = new Map<string, Agent>();
  for (const id of ids) agents.set(id, await keeper(world, id));
  const { by } = await said(world.agent("owner"), "1", { session: "one" });
  for (const agent of agents.values()) await agent.stop();
  const second = await world.openServer();
  const hub = lineTo(() => second);
  for (const id of ids) await keeper(world, id, 4, hub);
  const owner = world.agent("owner", { hub });
  for (const input of ["2", "3", "4"]) {
    const handle = say(owner, input, { session: "one" });
    expect((await handle.result).by).toBe(by);
    expect(await onRecord(world, handle.id)).toEqual(["continued"]);
  }
  await second.close();
});

test("WB-222 the next attempt of a handoff goes to the holder again, and to another agent after two failures", async () => {
  const world = await World.open();
  for (const id of ["a", "b", "c", "d"]) await keeper(world, id);
  const owner = world.agent("owner");
  const { by } = await said(owner, "1", { session: "one" });
  const handle = say(owner, "crash", { session: "one" });
  const failed = handle.result.catch((error: unknown) => error);
  await handle.custody;
  await world.clock.advance(60_000);
  await failed;
  const { attempts } = (await world.hub.handoff(handle.id, "owner"))!;
  const recipients = attempts.map(({ recipient }) => recipient);
  expect(recipients.slice(0, 2)).toEqual([by, by]);
  expect(recipients[2]).not.toBe(by);
  // The holder is the agent that completed the last turn.
  expect(await said(owner, "2", { session: "one" })).toMatchObject({ by, session: "continued" });
});

test("WB-222 a session of one capability does not affect another capability", async () => {
  const world = await World.open();
  for (const id of ["a", "b"]) {
    const agent = world.agent(id);
    for (const name of ["chat", "draw"]) agent.serve({ name }, () => id);
    await agent.start();
  }
  const owner = world.agent("owner");
  await owner.handoff({ capability: "chat", session: "one" }).result;
  const draw = owner.handoff({ capability: "draw", session: "one" });
  await draw.result;
  expect(await onRecord(world, draw.id)).toEqual(["begun"]);
});

test("WB-223 the result of a recipient that keeps no conversations does not mention the session", async () => {
  const world = await World.open();
  const agent = world.agent("a");
  agent.serve({ name: "chat" }, () => "hello");
  await agent.start();
  const { session } = await say(world.agent("owner"), "1", { session: "one" }).result;
  expect(session).toBeUndefined();
});

test("WB-220 an invalid session is refused where it is passed", async () => {
  const world = await World.open();
  const owner = world.agent("owner");
  for (const session of [
    "",
    "a b",
    "x".repeat(129),
    { id: "a", waitMs: -1 },
    { id: "a", waitMs: NaN },
  ]) {
    expect(() => say(owner, "1", { session })).toThrow(expect.objectContaining({ status: 400 }));
  }
});

import { createHandoff, newId, signEnvelope } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { interceptCommits, lineTo, settled, World } from "./world-fixture.ts";

const never = () => new Promise<never>(() => undefined);

async function two(): Promise<{ world: World; left: Hub; right: Hub }> {
  const world = await World.open();
  const second = await world.openServer();
  return { world, left: lineTo(() => world.server), right: lineTo(() => second) };
}

async function holds(world: World): Promise<void> {
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

test("delegator and recipient are attached to different hubs over one store", async () => {
  const { world, left, right } = await two();
  const worker = world.agent("worker", { hub: right });
  worker.serve("book", async (work) => ["to", await work.ask("Where to?")]);
  await worker.start();
  const owner = world.agent("owner", { hub: left });
  const handoffs = ["Rome", "Oslo", "Bonn"].map((place) => ({
    place,
    handoff: owner.handoff({ to: "worker", capability: "book" }),
  }));
  for (const { place, handoff } of handoffs) {
    for await (const question of handoff.questions) await handoff.answer(question.id, place);
    expect(await handoff.result).toMatchObject({ output: ["to", place] });
  }
  await settled();
  await holds(world);
});

test("two hubs race for due work, and everything happens once", async () => {
  const { world, left, right } = await two();
  for (const [id, hub] of [
    ["a", left],
    ["b", right],
  ] as const) {
    const worker = world.agent(id, { hub, credit: 4 });
    worker.serve({ name: "work", lease_seconds: 5 }, ({ input, attempt }) =>
      Number(input) % 3 === 0 && attempt === 1 ? never() : input,
    );
    await worker.start();
  }
  const owner = world.agent("owner", { hub: left });
  const handoffs = Array.from({ length: 12 }, (_, input) =>
    owner.handoff({ capability: "work", input, timeoutMs: 60_000, contract: { lease_seconds: 5 } }),
  );
  const results = Promise.allSettled(handoffs.map((handoff) => handoff.result));
  await settled();
  await world.clock.advance(61_000);
  const states = (await results).map(({ status }) => status);
  expect(states.filter((_, index) => index % 3 !== 0)).toEqual(Array(8).fill("fulfilled"));
  await settled();
  await holds(world);
});

test("work that waits at one hub goes to an agent that attaches at the other", async () => {
  const { world, left, right } = await two();
  const first = world.agent("worker", { hub: left });
  first.serve("work", () => "done");
  await first.start();
  await first.stop();
  const handoff = world.agent("owner", { hub: left }).handoff({ to: "worker", capability: "work" });
  await handoff.custody;
  const second = world.agent("worker", { hub: right });
  second.serve("work", () => "done");
  await second.start();
  expect(await handoff.result).toMatchObject({ output: "done" });
  const cancelled = world.agent("owner", { hub: left });
  const later = cancelled.handoff({ to: "worker", capability: "work" });
  expect(await later.result).toMatchObject({ output: "done" });
  await settled();
  await holds(world);
});

test("a cancellation at one hub stops the work at the other", async () => {
  const { world, left, right } = await two();
  const worker = world.agent("worker", { hub: right });
  const stopped = new Promise<void>((resolve) => {
    worker.serve("work", ({ signal }) => {
      signal.addEventListener("abort", () => resolve());
      return never();
    });
  });
  await worker.start();
  const handoff = world.agent("owner", { hub: left }).handoff({ to: "worker", capability: "work" });
  await handoff.custody;
  await settled();
  await handoff.cancel();
  await stopped;
  await expect(handoff.result).rejects.toMatchObject({ status: 499 });
  await holds(world);
});

test("a member that is submitted at one hub while its group is decided at the other ends with the group", async () => {
  const { world, left, right } = await two();
  const finished = Promise.withResolvers<string>();
  const worker = world.agent("worker", { hub: right });
  worker.serve<number>("work", ({ input }) => (input === 0 ? finished.promise : never()));
  await worker.start();
  const owner = world.agent("owner", { hub: left });
  const [id, correlationId] = [newId(), newId()];
  const member = (index: number) =>
    owner.handoff({
      to: "worker",
      capability: "work",
      input: index,
      timeoutMs: 600_000,
      correlationId,
      group: { id, index, size: 3, join: "any" },
    });
  const [first, second] = [member(0), member(1)];
  await Promise.all([first.accepted, second.accepted]);

  // The left hub's member has joined, and is not on disk yet when the group is decided.
  const isJoined = Promise.withResolvers<void>();
  const isDecided = Promise.withResolvers<void>();
  interceptCommits(world.store, async (commit, make) => {
    if (commit.handoff?.id === late.id && commit.handoff.version === 1) {
      isJoined.resolve();
      await isDecided.promise;
    }
    return make(commit);
  });
  const late = member(2);
  await isJoined.promise;
  finished.resolve("done");
  expect(await first.result).toMatchObject({ output: "done" });
  await expect(second.result).rejects.toMatchObject({ status: 499 });
  isDecided.resolve();
  await expect(late.result).rejects.toMatchObject({ status: 499 });
  await settled();
  await holds(world);
});

test.each(["left", "right"] as const)(
  "a handoff that is submitted to both hubs at once is taken once, and offered where a recipient is attached: %s",
  async (side) => {
    const { world, ...hubs } = await two();
    const worker = world.agent("worker", { hub: hubs[side] });
    worker.serve("work", () => "done");
    await worker.start();
    const owner = world.agent("owner", { hub: hubs.left });
    await owner.start();
    await settled();
    const handoff = createHandoff(
      {
        from: "owner",
        domain: world.hub.domain,
        to: "worker",
        body: { capability: "work" },
        timeoutMs: 60_000,
      },
      { now: () => world.clock.now(), newId: () => newId() },
    );
    const text = signEnvelope(handoff, world.key("owner"));
    await Promise.all([hubs.left.submit(text), hubs.right.submit(text)]);
    const found = await owner.attach(handoff.handoff_id);
    expect(await found.result).toMatchObject({ output: "done", attempt: 1 });
    await settled();
    await holds(world);
  },
);

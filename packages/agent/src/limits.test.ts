import { createReply, newId, signEnvelope } from "@waybill/protocol";
import { expect, test } from "vitest";
import { lineTo, settled, World } from "./world-fixture.ts";

const never = () => new Promise<never>(() => undefined);

async function holds(world: World): Promise<void> {
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

test("the limit of open handoffs for each delegator holds across restarts and hubs", async () => {
  const world = await World.open({ limits: { openHandoffs: 3 } });
  const worker = world.agent("worker", { credit: 4 });
  worker.serve("work", ({ input }) => (input === "quick" ? "done" : never()));
  await worker.start();
  const owner = world.agent("owner");
  const hand = (by = owner, input = "slow") =>
    by.handoff({ to: "worker", capability: "work", input, timeoutMs: 600_000 });
  const open = [hand(), hand(), hand()];
  await Promise.all(open.map(({ custody }) => custody));
  const refused = { status: 301, retryable: true, retryAfterMs: expect.any(Number) as number };
  await expect(hand().custody).rejects.toMatchObject(refused);
  await expect(hand(owner, "quick").custody).rejects.toMatchObject(refused);
  await expect(hand(world.agent("another")).custody).resolves.toMatchObject({ by: "hub" });

  await world.down();
  await world.up();
  await world.clock.advance(1_000);
  await expect(hand().custody).rejects.toMatchObject(refused);
  const second = await world.openServer();
  const elsewhere = world.agent("owner", { hub: lineTo(() => second) });
  await expect(hand(elsewhere).custody).rejects.toMatchObject(refused);
  // A duplicate does not count again, and an end frees a place, at both hubs.
  await world.hub.submit(open[2]!.text);
  await open[0]!.cancel();
  await settled();
  const next = hand(elsewhere);
  await next.custody;
  await settled();
  await expect(hand().custody).rejects.toMatchObject(refused);
  await next.cancel();
  await open[1]!.cancel();
  expect(await hand(owner, "quick").result).toMatchObject({ output: "done" });
  await settled();
  expect(await world.check(false)).toMatchObject({ holds: true, violations: [] });
  await second.close();
});

test("concurrent handoffs do not exceed the limit, and refused ones do not count", async () => {
  const world = await World.open({ limits: { openHandoffs: 2 } });
  const worker = world.agent("worker");
  worker.serve("work", ({ signal }) => {
    expect(signal.aborted).toBe(false);
    return never();
  });
  await worker.start();
  const owner = world.agent("owner");
  for (let round = 0; round < 3; round++) {
    const wrong = owner.handoff({ to: "worker", capability: "unheard" });
    await expect(wrong.custody).rejects.toMatchObject({ status: 404 });
    const all = Array.from({ length: 8 }, () =>
      owner.handoff({ to: "worker", capability: "work" }),
    );
    const taken = (await Promise.allSettled(all.map(({ custody }) => custody))).flatMap(
      ({ status }, index) => (status === "fulfilled" ? [all[index]!] : []),
    );
    expect(taken).toHaveLength(2);
    await Promise.all(taken.map((each) => each.cancel()));
  }
  await settled();
  await holds(world);
});

test("late envelopes are refused every time, and recorded up to a limit", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.result;
  await settled();
  const source = { now: () => world.clock.now(), newId: () => newId() };
  const late = (from: "worker" | "owner") =>
    signEnvelope(
      from === "worker"
        ? createReply(
            handoff.envelope,
            {
              kind: "result",
              from,
              attempt: 1,
              re: handoff.digest,
              body: { status: 200, output: "again" },
            },
            source,
          )
        : createReply(handoff.envelope, { kind: "cancel", from, to: "worker", body: {} }, source),
      world.key(from),
    );
  for (const from of ["worker", "owner"] as const) {
    for (let turn = 0; turn < 20; turn++) {
      if (turn === 10) {
        await world.down();
        await world.up();
      }
      const text = late(from);
      await expect(world.hub.submit(text)).rejects.toMatchObject({ status: 410 });
      await expect(world.hub.submit(text)).rejects.toMatchObject({ status: 410 });
    }
  }
  const kinds = await world.kinds(handoff.id);
  expect(kinds.filter((kind) => kind === "result 200")).toHaveLength(1 + 16);
  expect(kinds.filter((kind) => kind === "cancel")).toHaveLength(16);
  await holds(world);
});

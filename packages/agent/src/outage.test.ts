import { WaybillError } from "@waybill/protocol";
import type { Attachment, Delivery, Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { listen, settled, World } from "./world-fixture.ts";

const LEASE_MS = 30_000;
const CAPABILITY = { name: "work", lease_seconds: LEASE_MS / 1_000 };

/** A handler that throws an error of its own when it is told to stop, as many libraries do. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(new Error("The operation was aborted."))),
  );
}

async function holds(world: World): Promise<void> {
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

test("work that was aborted because the hub was unreachable is retried", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(CAPABILITY, ({ attempt, signal }) =>
    attempt === 1 ? untilAborted(signal) : "done",
  );
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  await world.down();
  await world.clock.advance(2 * LEASE_MS);
  await world.up();
  await world.clock.advance(10_000);
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 2 });
  expect(await world.kinds(handoff.id)).toContain("result 501");
  await holds(world);
});

test("the result of work that went on during an outage is accepted", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  const finish = Promise.withResolvers<string>();
  worker.serve(CAPABILITY, () => finish.promise);
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  await world.down();
  await world.clock.advance(2 * LEASE_MS);
  finish.resolve("done");
  await world.up();
  await world.clock.advance(10_000);
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 1 });
  await holds(world);
});

test("work that waits for an answer has no lease to lose while the hub is unreachable", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(CAPABILITY, (work) => work.ask("Where to?"));
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  for await (const question of handoff.questions) {
    await world.down();
    await world.clock.advance(2 * LEASE_MS);
    await world.up();
    await world.clock.advance(10_000);
    await handoff.answer(question.id, "Rome");
    break;
  }
  expect(await handoff.result).toMatchObject({ output: "Rome", attempt: 1 });
  await holds(world);
});

test("deliveries that arrive while an agent is attaching are processed and acknowledged", async () => {
  const world = await World.open();
  const frames: string[] = [];
  const heard: Delivery[] = [];
  // Over a network, the first deliveries arrive before the attachment is ready.
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async attach(request, handler): Promise<Attachment> {
      const attachment = await world.hub.attach(request, (delivery) => {
        heard.push(delivery);
        handler(delivery);
      });
      await settled();
      return {
        taken: (...args) => {
          frames.push("taken");
          attachment.taken(...args);
        },
        seen: (id) => {
          frames.push(`seen ${id}`);
          attachment.seen(id);
        },
        heartbeat: (...args) => attachment.heartbeat(...args),
        delta: (delta) => attachment.delta(delta),
        setCredit: (credit) => attachment.setCredit(credit),
        close: () => attachment.close(),
        closed: attachment.closed,
      };
    },
  };
  const before = world.agent("worker");
  before.serve(CAPABILITY, () => "done");
  await before.start();
  await before.stop();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.custody;
  const worker = world.agent("worker", { hub: wire });
  worker.serve(CAPABILITY, () => "done");
  await worker.start();
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 1 });
  expect(heard.map(({ type }) => type)).toEqual(["offer"]);
  expect(frames).toEqual([`seen ${handoff.id}/1`, "taken"]);
  await holds(world);
});

test("an agent that stops while it reconnects is offered nothing more", async () => {
  const world = await World.open();
  let mayAttach = Promise.resolve();
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async attach(request, handler) {
      await mayAttach;
      return world.hub.attach(request, handler);
    },
  };
  const worker = world.agent("worker", { hub: wire });
  const finish = Promise.withResolvers<string>();
  worker.serve(CAPABILITY, () => finish.promise);
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  const { promise, resolve: attachAgain } = Promise.withResolvers<void>();
  mayAttach = promise;
  await world.down();
  await world.up();
  await world.clock.advance(1_000);
  const stopped = worker.stop();
  attachAgain();
  await settled();
  const next = owner.handoff({ to: "worker", capability: "work" });
  await next.custody;
  await settled();
  expect(await world.kinds(next.id)).not.toContain("offer");
  finish.resolve("done");
  await stopped;
  expect(await handoff.result).toMatchObject({ output: "done" });
});

test("an offer costs no attempt if the hub goes down while it is asked for keys", async () => {
  const world = await World.open();
  let failures = 1;
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async manifests(query) {
      if ("agent" in query && query.agent === "owner" && failures-- > 0) {
        throw new WaybillError(503, "The line was cut.");
      }
      return world.hub.manifests(query);
    },
  };
  const worker = world.agent("worker", { hub: wire });
  worker.serve(CAPABILITY, () => "done");
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await world.clock.advance(10_000);
  expect(failures).toBe(-1);
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 1 });
  await holds(world);
});

test("a handoff that could not be loaded completely is found at the next try", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(CAPABILITY, () => "done");
  await worker.start();
  const first = world.agent("owner");
  const made = first.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  await made.result;
  await first.stop({ mode: "abandon" });
  let failures = 1;
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async manifests(query) {
      if ("agent" in query && query.agent === "worker" && failures-- > 0) {
        throw new WaybillError(500, "The store failed.");
      }
      return world.hub.manifests(query);
    },
  };
  const second = world.agent("owner", { hub: wire });
  await second.start();
  // The end is delivered before anybody here asks for it.
  await settled();
  await expect(second.attach(made.id)).rejects.toMatchObject({ status: 500 });
  const handle = await second.attach(made.id);
  expect(await handle.result).toMatchObject({ output: "done" });
  await settled();
  await holds(world);
});

test("a repeated handoff finds itself although the connection is cut during the lookup", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(CAPABILITY, () => "done");
  await worker.start();
  const first = world.agent("owner");
  const made = first.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  await made.result;
  await first.stop({ mode: "abandon" });
  let failures = 1;
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async handoff(id, as) {
      if (failures-- > 0) throw new WaybillError(503, "The line was cut.");
      return world.hub.handoff(id, as);
    },
  };
  const again = world
    .agent("owner", { hub: wire })
    .handoff({ to: "worker", capability: "work", handoffId: made.id });
  await world.clock.advance(10_000);
  expect(failures).toBe(-1);
  expect(await again.result).toMatchObject({ output: "done" });
  await settled();
  await holds(world);
});

test("a connection that fails with any temporary error is reopened", async () => {
  const world = await World.open();
  let failures = 0;
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async attach(request, handler) {
      if (failures-- > 0) throw new Error("socket hang up");
      return world.hub.attach(request, handler);
    },
  };
  const worker = world.agent("worker", { hub: wire });
  worker.serve(CAPABILITY, () => "done");
  await worker.start();
  failures = 3;
  await world.down();
  await world.up();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await world.clock.advance(10_000);
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 1 });
  await holds(world);
});

test("work that was cancelled before its keys arrived is not started", async () => {
  const world = await World.open();
  const mayAnswer = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async manifests(query) {
      if ("agent" in query && query.agent === "owner") {
        isAsked.resolve();
        await mayAnswer.promise;
      }
      return world.hub.manifests(query);
    },
  };
  const worker = world.agent("worker", { hub: wire });
  let begun = 0;
  worker.serve(CAPABILITY, () => ++begun);
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await isAsked.promise;
  await handoff.cancel();
  await settled();
  mayAnswer.resolve();
  await settled();
  expect(begun).toBe(0);
  await expect(handoff.result).rejects.toMatchObject({ status: 499 });
  await holds(world);
});

test("work that was returned before its keys arrived is not started", async () => {
  const world = await World.open();
  const mayAnswer = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  const wire: Hub = {
    ...world.hub,
    id: "hub",
    async manifests(query) {
      if ("agent" in query && query.agent === "owner") {
        isAsked.resolve();
        await mayAnswer.promise;
      }
      return world.hub.manifests(query);
    },
  };
  const first = world.agent("worker", { hub: wire });
  let begun = 0;
  first.serve(CAPABILITY, () => ++begun);
  await first.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await isAsked.promise;
  await first.stop({ mode: "release" });
  mayAnswer.resolve();
  await settled();
  expect(begun).toBe(0);
  const second = world.agent("worker");
  second.serve(CAPABILITY, () => "done");
  await second.start();
  await world.clock.advance(LEASE_MS);
  expect(await handoff.result).toMatchObject({ output: "done" });
  await holds(world);
});

test("a result that the hub finds too large becomes a failure that says so", async () => {
  const world = await World.open({ limits: { envelopeBytes: 20_000 } });
  const worker = world.agent("worker");
  worker.serve(CAPABILITY, () => "x".repeat(30_000));
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  handoff.result.catch(() => undefined);
  await world.clock.advance(10_000);
  expect(await world.kinds(handoff.id)).toContain("result 413");
  await expect(handoff.result).rejects.toMatchObject({ status: 413 });
  await holds(world);
});

test("a stopping agent does not wait for cancelled work that ignores its signal", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve(CAPABILITY, () => new Promise<never>(() => undefined));
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  await handoff.cancel();
  await settled();
  await worker.stop();
  await expect(handoff.result).rejects.toMatchObject({ status: 499 });
  await holds(world);
});

const OFFER_MS = 10_000;

/** A handoff that is offered, and not taken before an outage of the hub that outlasts the offer. */
async function offeredWhileAway(world: World, isTaken: boolean) {
  const known = world.agent("worker");
  known.serve("work", () => "done");
  await known.start();
  await known.stop();
  const heard: Delivery[] = [];
  const line = await listen(world, "worker", (delivery) => heard.push(delivery), 1);
  const handoff = world.agent("owner").handoff({ capability: "work", timeoutMs: 600_000 });
  await settled();
  expect(heard).toMatchObject([{ type: "offer", attempt: 1 }]);
  if (isTaken) line.taken(handoff.id, 1);
  await settled();
  await world.down();
  await world.clock.advance(3 * OFFER_MS);
  await world.up();
  return handoff;
}

test.each([false, true])(
  "the time of an offer does not run during an outage of the hub (taken: %s)",
  async (isTaken) => {
    const world = await World.open();
    const handoff = await offeredWhileAway(world, isTaken);
    // Agents reconnect at their next retry, and not in the moment that the hub is back.
    await world.clock.advance(3_000);
    const worker = world.agent("worker");
    worker.serve("work", () => "done");
    await worker.start();
    await settled();
    expect(await handoff.result).toMatchObject({ output: "done", attempt: 1 });
    expect(await world.kinds(handoff.id)).not.toContain("unreachable");
    const { fits } = await world.hub.find({ capability: "work" });
    expect(fits).toMatchObject([{ agent_id: "worker" }]);
    await holds(world);
  },
);

test("an offer that stays untaken during and after an outage expires exactly once", async () => {
  const world = await World.open();
  const handoff = await offeredWhileAway(world, false);
  await world.clock.advance(OFFER_MS - 1_000);
  expect(await world.kinds(handoff.id)).not.toContain("unreachable");
  await world.clock.advance(2_000);
  expect(await world.kinds(handoff.id)).toContain("unreachable");
  await handoff.cancel();
});

import { createReply, digestOf, newId, signEnvelope, WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { Attachment, Delivery, Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import type { HandoffHandle } from "./delegating/handoff-handle.ts";
import { settled, World } from "./world-fixture.ts";

const TIMEOUT_MS = 10_000;
const GRACE_MS = 1_000;
/** How long an agent that stops waits for its hub. */
const SETTLE_MS = 5_000;

const never = (): Promise<never> => new Promise(() => undefined);
const gone = (): Promise<never> => Promise.reject(new WaybillError(503, "The hub is gone."));

/** Passes on only those deliveries that the predicate allows. */
function hears(hub: Hub, change: (delivery: Delivery) => Delivery | undefined): Hub {
  return {
    ...hub,
    id: "hub",
    attach: (request, handler) =>
      hub.attach(request, (delivery) => {
        const changed = change(delivery);
        if (changed !== undefined) handler(changed);
      }),
  };
}

/** A connection that holds deliveries back until it is released. */
function heldBack(hub: Hub): { readonly line: Hub; release(): void } {
  let held: (() => void)[] | undefined = [];
  const line: Hub = {
    ...hub,
    id: "hub",
    attach: (request, handler) =>
      hub.attach(request, (delivery) => {
        if (held === undefined) handler(delivery);
        else held.push(() => handler(delivery));
      }),
  };
  return {
    line,
    release() {
      const waiting = held ?? [];
      held = undefined;
      for (const deliver of waiting) deliver();
    },
  };
}

/** Hubs with one fault each. */
const LIARS: Readonly<Record<string, (world: World) => Hub>> = {
  "answers nothing": ({ hub }) => ({
    id: "hub",
    domain: hub.domain,
    submit: never,
    publish: never,
    manifests: never,
    find: never,
    attach: never,
    handoff: never,
  }),
  "lets agents attach and never signs for a handoff": ({ hub }) => ({
    ...hub,
    id: "hub",
    submit: never,
  }),
  "never answers a hello": ({ hub }) => ({ ...hub, id: "hub", attach: never }),
  "never returns a key": ({ hub }) => ({
    ...hub,
    id: "hub",
    manifests: (query) =>
      "agent" in query && query.agent !== "owner" ? never() : hub.manifests(query),
  }),
  "delivers nothing": ({ hub }) => hears(hub, () => undefined),
  "drops the result": ({ hub }) =>
    hears(hub, (delivery) =>
      delivery.type === "envelope" && delivery.envelope.length > 900 ? undefined : delivery,
    ),
  "delivers a result that is addressed to somebody else": (world) => {
    let isForged = false;
    return hears(world.hub, (delivery) => {
      if (delivery.type !== "envelope" || isForged) return undefined;
      isForged = true;
      return { ...delivery, envelope: resultForAnother(world) };
    });
  },
  "closes the connection for good": ({ hub }) => {
    let isGone = false;
    return {
      ...hub,
      id: "hub",
      submit: (text) => (isGone ? gone() : hub.submit(text)),
      async attach(request, handler): Promise<Attachment> {
        if (isGone) return gone();
        const cut = Promise.withResolvers<WaybillError>();
        const attachment = await hub.attach(request, (delivery) => {
          if (isGone) return;
          isGone = true;
          handler(delivery);
          cut.resolve(new WaybillError(503, "The hub has closed the line."));
        });
        const closed = cut.promise;
        return { ...attachment, close: () => attachment.close(), closed };
      },
    };
  },
};

let made: HandoffEnvelope | undefined;

function resultForAnother(world: World): string {
  const mine = { from: "worker", to: "bystander", attempt: 1, re: digestOf("another") };
  const body = { status: 200, output: "for another" } as const;
  return signEnvelope(createReply(made!, { kind: "result", ...mine, body }), world.key("worker"));
}

/** The outcome of a promise, without waiting for it. */
function watch(promise: Promise<unknown>): () => unknown {
  let outcome: unknown = "pending";
  promise.then(
    () => (outcome = "fulfilled"),
    (error: unknown) => (outcome = WaybillError.from(error).status),
  );
  return () => outcome;
}

async function read(all: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of all);
}

async function worldWith(lie: (world: World) => Hub): Promise<{ world: World; owner: Agent }> {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", async (work) => {
    await work.progress({ message: "at it" });
    return "x".repeat(1_000);
  });
  await worker.start();
  const absent = world.agent("absent");
  absent.serve("work", () => "never");
  await absent.start();
  await absent.stop();
  return { world, owner: world.agent("owner", { hub: lie(world) }) };
}

function handOff(owner: Agent): HandoffHandle {
  const handle = owner.handoff({ capability: "work", to: "worker", timeoutMs: TIMEOUT_MS });
  made = handle.envelope;
  return handle;
}

test.each(Object.entries(LIARS))(
  "with a hub that %s, no stage of a handoff is waited for past its deadline",
  async (_, lie) => {
    const { world, owner } = await worldWith(lie);
    const handle = handOff(owner);
    const all = {
      custody: watch(handle.custody),
      accepted: watch(handle.accepted),
      result: watch(handle.result),
      progress: watch(read(handle.progress)),
      questions: watch(read(handle.questions)),
      cancel: watch(settled().then(() => handle.cancel("enough"))),
    };
    const outcomes = () =>
      Object.fromEntries(Object.entries(all).map(([name, is]) => [name, is()]));
    await world.clock.advance(TIMEOUT_MS - 1);
    expect(all.result()).not.toBe("fulfilled");
    await world.clock.advance(GRACE_MS + 1);
    expect(Object.entries(outcomes()).filter(([, outcome]) => outcome === "pending")).toEqual([]);
    expect(outcomes()).toMatchObject({ progress: "fulfilled", questions: "fulfilled" });
  },
);

test.each([
  "lets agents attach and never signs for a handoff",
  "never returns a key",
  "delivers nothing",
  "drops the result",
  "delivers a result that is addressed to somebody else",
  "closes the connection for good",
])("the error after the deadline says that the hub has not reported the end: %s", async (name) => {
  const { world, owner } = await worldWith(LIARS[name]!);
  const handle = handOff(owner);
  const result = handle.result.catch((error: unknown) => error);
  await world.clock.advance(TIMEOUT_MS + GRACE_MS);
  expect(await result).toMatchObject({ status: 504, code: "DEADLINE_EXCEEDED" });
  expect(String(await result)).toContain("has not reported how");
  expect(handle.hasEnded).toBe(false);
  // An end that was not delivered is not acknowledged either, so the hub still has it.
  await handle.acknowledge();
  expect(await world.kinds(handle.id)).not.toContain("receipt 200");
});

test.each(Object.entries(LIARS))("an agent stops although its hub %s", async (_, lie) => {
  const { world, owner } = await worldWith(lie);
  const handle = handOff(owner);
  const result = watch(handle.result);
  await settled();
  const stopped = watch(owner.stop());
  await world.clock.advance(SETTLE_MS);
  expect(stopped()).toBe("fulfilled");
  expect(result()).not.toBe("pending");
  await world.down();
});

test("an end that was not delivered is found by asking again once the hub answers", async () => {
  let isLying = true;
  const { world, owner } = await worldWith(({ hub }) =>
    hears(hub, (delivery) => (isLying ? undefined : delivery)),
  );
  const handle = handOff(owner);
  const result = handle.result.catch((error: unknown) => error);
  await world.clock.advance(TIMEOUT_MS + GRACE_MS);
  expect(await result).toMatchObject({ status: 504 });
  isLying = false;
  const again = await owner.attach(handle.id);
  expect(await again.result).toMatchObject({ status: 200, by: "worker" });
  await world.clock.advance(1);
  expect(await world.check()).toMatchObject({ holds: true });
});

test.each([
  { acknowledge: "auto", sent: ["receipt 200"] },
  { acknowledge: "manual", sent: [] },
] as const)(
  "a notice that comes after the wait for it is acknowledged by the agent if that is $acknowledge",
  async ({ acknowledge, sent }) => {
    const { world } = await worldWith(({ hub }) => hub);
    const { line, release } = heldBack(world.hub);
    const errors: unknown[] = [];
    const owner = world.agent("owner", { hub: line, log: ({ error }) => errors.push(error) });
    const work = { capability: "work", to: "absent", timeoutMs: TIMEOUT_MS, acknowledge };
    const handle = owner.handoff(work);
    const result = handle.result.catch((error: unknown) => error);
    await world.clock.advance(TIMEOUT_MS + GRACE_MS);
    expect(String(await result)).toContain("has not reported how");
    expect(await world.kinds(handle.id)).toContain("notice 504");
    expect(await world.kinds(handle.id)).not.toContain("receipt 200");
    release();
    await world.clock.advance(1);
    const kinds = await world.kinds(handle.id);
    expect(kinds.filter((kind) => kind === "receipt 200")).toEqual(sent);
    const again = await owner.attach(handle.id);
    await expect(again.result).rejects.toMatchObject({ status: 504 });
    await again.acknowledge();
    expect(await world.check()).toMatchObject({ holds: true });
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
  },
);

test("a result that comes after the wait for it is left to whoever attaches", async () => {
  const { world } = await worldWith(({ hub }) => hub);
  const { line, release } = heldBack(world.hub);
  const owner = world.agent("owner", { hub: line });
  const handle = handOff(owner);
  const result = watch(handle.result);
  await world.clock.advance(TIMEOUT_MS + GRACE_MS);
  expect(result()).toBe(504);
  release();
  await world.clock.advance(1);
  expect(await world.kinds(handle.id)).not.toContain("receipt 200");
  const again = await owner.attach(handle.id);
  expect(await again.result).toMatchObject({ status: 200, by: "worker" });
});

test.each([
  {
    name: "its deadline has passed",
    close: (world: World) => world.clock.advance(TIMEOUT_MS),
    why: "The handoff ran out of time.",
  },
  {
    name: "it was cancelled",
    close: (_: World, handle: HandoffHandle) => handle.cancel("enough"),
    why: "cancelled",
  },
])("work hands nothing off any more once $name", async ({ close, why }) => {
  const world = await World.open();
  const refused = Promise.withResolvers<unknown>();
  const worker = world.agent("worker");
  worker.serve("work", async ({ signal, handoff }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    refused.resolve(await handoff({ capability: "part" }).result.catch((error: unknown) => error));
    return "too late";
  });
  await worker.start();
  const handle = handOff(world.agent("owner"));
  handle.result.catch(() => undefined);
  await handle.accepted;
  await close(world, handle);
  const error = await refused.promise;
  expect(error).toMatchObject({ status: 410, at: "/parent_id" });
  expect(String(error)).toContain(
    `This attempt at ${handle.id} is closed, so it can't hand off parts of it`,
  );
  expect(String(error)).toContain(why);
  const handoffs = (await world.history()).filter(
    (entry) => entry.type === "envelope" && entry.envelope.kind === "handoff",
  );
  expect(handoffs).toHaveLength(1);
});

test("an end that arrives while the hub's clock is slightly behind is accepted", async () => {
  const { world, owner } = await worldWith(({ hub }) => hub);
  const handle = owner.handoff({ capability: "work", to: "absent", timeoutMs: TIMEOUT_MS });
  const result = handle.result.catch((error: unknown) => error);
  await world.clock.advance(TIMEOUT_MS);
  expect(String(await result)).not.toContain("has not reported how");
  expect(await result).toMatchObject({ status: 504 });
  expect(handle.hasEnded).toBe(true);
});

test("a group settles although the hub never reports the end of its members", async () => {
  for (const name of ["delivers nothing", "answers nothing"]) {
    const { world, owner } = await worldWith(LIARS[name]!);
    const options = { capability: "work", to: "worker", timeoutMs: TIMEOUT_MS };
    const group = owner.handoffAll([options, options], { join: "any" });
    const result = watch(group.result);
    await world.clock.advance(TIMEOUT_MS + GRACE_MS);
    expect(result(), name).toBe(504);
  }
});

test("a group whose rule is met does not wait for cancellations that the hub does not answer", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", ({ input }) => (input === "slow" ? never() : "done"));
  await worker.start();
  let submissions = 0;
  const owner = world.agent("owner", {
    hub: {
      ...world.hub,
      id: "hub",
      submit: (text) => (++submissions > 2 ? never() : world.hub.submit(text)),
    },
  });
  const options = { capability: "work", to: "worker", timeoutMs: TIMEOUT_MS };
  const group = owner.handoffAll(
    [
      { ...options, input: "slow" },
      { ...options, input: "quick" },
    ],
    { join: "any" },
  );
  const result = watch(group.result);
  await world.clock.advance(TIMEOUT_MS + GRACE_MS);
  expect(result()).toBe("fulfilled");
});

test("attaching to a handoff fails if the hub does not answer", async () => {
  const world = await World.open();
  const owner = world.agent("owner", { hub: { ...world.hub, id: "hub", handoff: never } });
  const attached = watch(owner.attach(newId()));
  await world.clock.advance(60_000);
  expect(attached()).toBe(503);
});

test("attaching to a handoff about which the hub sends nothing more waits until the deadline", async () => {
  const { world, owner } = await worldWith(({ hub }) => hub);
  const handle = owner.handoff({ capability: "work", to: "absent", timeoutMs: TIMEOUT_MS });
  await handle.custody;
  await owner.stop();
  const again = world.agent("owner", { hub: hears(world.hub, () => undefined) });
  const attached = await again.attach(handle.id);
  const result = watch(attached.result);
  await world.clock.advance(TIMEOUT_MS + GRACE_MS);
  expect(result()).toBe(504);
});

test("an acknowledgement that the hub does not answer is given up", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  let isDeaf = false;
  const owner = world.agent("owner", {
    hub: { ...world.hub, id: "hub", submit: (text) => (isDeaf ? never() : world.hub.submit(text)) },
  });
  const handle = owner.handoff({
    capability: "work",
    to: "worker",
    timeoutMs: TIMEOUT_MS,
    acknowledge: "manual",
  });
  await handle.result;
  isDeaf = true;
  const acknowledged = watch(handle.acknowledge());
  const cancelled = watch(handle.cancel());
  await world.clock.advance(TIMEOUT_MS + 30_000);
  expect(cancelled()).toBe(504);
  await world.clock.advance(60_000);
  expect(acknowledged()).toBe(504);
});

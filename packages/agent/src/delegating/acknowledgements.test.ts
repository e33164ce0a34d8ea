import { parseEnvelope, readCompact, signEnvelope, createReply, newId } from "@waybill/protocol";
import type { HandoffEnvelope, ReceiptBody, ReceiptEnvelope } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import type { Agent } from "../agent.ts";
import { settled, World } from "../world-fixture.ts";
import type { HandoffHandle } from "./handoff-handle.ts";

async function opened(options: ConstructorParameters<typeof World>[0] = {}): Promise<World> {
  const world = await World.open(options);
  const worker = world.agent("worker", { credit: 100 });
  worker.serve("work", ({ input }) => input);
  await worker.start();
  return world;
}

/** Handoffs that have ended, and that only the application acknowledges. */
async function ended(owner: Agent, count: number): Promise<HandoffHandle[]> {
  const handles = Array.from({ length: count }, (_, input) =>
    owner.handoff({ to: "worker", capability: "work", input, acknowledge: "manual" }),
  );
  await Promise.all(handles.map(({ result }) => result));
  return handles;
}

/** How many handoffs each acknowledgement on record names. */
async function acknowledged(world: World): Promise<number[]> {
  return (await world.history()).flatMap((entry) => {
    if (entry.type !== "envelope" || entry.envelope.kind !== "receipt") return [];
    const { status, also = [] } = entry.envelope.body;
    return status === 200 ? [1 + also.length] : [];
  });
}

async function areAcknowledged(world: World, handles: readonly HandoffHandle[]) {
  const views = handles.map(({ id }) => world.server.handoff(id, "owner"));
  return (await Promise.all(views)).map((view) => view?.isAcknowledged);
}

async function holds(world: World): Promise<void> {
  await settled();
  expect(await world.check()).toMatchObject({ violations: [] });
  expect(world.errors).toEqual([]);
}

test("what is acknowledged in one turn shares one envelope, and a single one has no list", async () => {
  const world = await opened();
  const owner = world.agent("owner");
  const [one, ...others] = (await ended(owner, 5)) as [HandoffHandle, ...HandoffHandle[]];
  await one.acknowledge();
  await Promise.all(others.map((each) => each.acknowledge()));
  expect(await acknowledged(world)).toEqual([1, 4]);
  expect(await areAcknowledged(world, [one, ...others])).toEqual([true, true, true, true, true]);
  await holds(world);
});

test("results of one turn that are awaited are acknowledged together", async () => {
  const world = await opened();
  const owner = world.agent("owner");
  const work = { to: "worker", capability: "work" };
  const handles = [1, 2, 3, 4].map((input) => owner.handoff({ ...work, input }));
  await Promise.all(handles.map(({ result }) => result));
  await owner.stop();
  const counts = await acknowledged(world);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4);
  expect(counts.length).toBeLessThan(4);
  await holds(world);
});

test("one envelope names at most 65 handoffs", async () => {
  const world = await opened();
  const handles = await ended(world.agent("owner"), 66);
  await Promise.all(handles.map((each) => each.acknowledge()));
  expect((await acknowledged(world)).toSorted((a, b) => a - b)).toEqual([1, 65]);
  await holds(world);
});

test("each is acknowledged alone if the hub refuses the list", async () => {
  const world = await opened({ limits: { alsoListed: 1 } });
  const handles = await ended(world.agent("owner"), 3);
  await Promise.all(handles.map((each) => each.acknowledge()));
  expect(await acknowledged(world)).toEqual([1, 1, 1]);
  await holds(world);
});

test("a refusal of one handoff of a list reaches that handoff only", async () => {
  const world = await opened();
  const owner = world.agent("owner", { hub: refusing(world, 1) });
  const handles = await ended(owner, 3);
  const outcomes = await Promise.allSettled(handles.map((each) => each.acknowledge()));
  expect(outcomes).toEqual([
    { status: "fulfilled", value: undefined },
    { status: "rejected", reason: expect.objectContaining({ status: 409 }) as unknown },
    { status: "fulfilled", value: undefined },
  ]);
});

/** The hub, which answers that it refuses this handoff of a list. */
function refusing(world: World, index: number): Hub {
  return Object.create(world.hub, {
    submit: {
      value: async (text: string) => {
        const list = parseEnvelope(readCompact(text).payload) as ReceiptEnvelope;
        const receipt = await world.hub.submit(text);
        if (list.kind !== "receipt" || list.body.also === undefined) return receipt;
        const { re } = parseEnvelope(readCompact(receipt).payload) as ReceiptEnvelope;
        const { handoff_id } = list.body.also[index - 1]!;
        const body: ReceiptBody = { status: 100, refused: [{ handoff_id, status: 409 }] };
        const answer = createReply(
          list as unknown as HandoffEnvelope,
          { kind: "receipt", from: "hub", re, body },
          { now: () => world.clock.now(), newId: () => newId() },
        );
        return signEnvelope(answer, world.hubKey);
      },
    },
  }) as Hub;
}

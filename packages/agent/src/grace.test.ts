import type { HubServer } from "@waybill/hub";
import { newId, newSalt, signCompact, stringifyJson, WaybillError } from "@waybill/protocol";
import type { Attachment, Delivery } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { listen, settled, World } from "./world-fixture.ts";

const GRACE_MS = 5_000;
const JOB = newId();

/** A recipient that has reported its first offer as taken, and has signed nothing about it yet. */
async function taken(world: World): Promise<{ id: string; line: Attachment; commits: number }> {
  const known = world.agent("worker");
  known.serve("work", () => "done");
  await known.start();
  await known.stop();
  const heard: Delivery[] = [];
  const line = await listen(world, "worker", (delivery) => heard.push(delivery), 1);
  const { id } = world
    .agent("owner")
    .handoff({ to: "worker", capability: "work", correlationId: JOB });
  await settled();
  expect(heard).toMatchObject([{ type: "offer", attempt: 1 }]);
  let commits = 0;
  const isOver = world.store.onCommit(() => commits++);
  line.taken(id, 1);
  await settled();
  isOver();
  return { id, line, commits };
}

async function attemptOf(world: World, id: string) {
  return (await world.hub.handoff(id, "owner"))!.attempts[0]!;
}

/**
 * Expects the attempt to be lost at the end of the grace, to the millisecond, with a reason in the
 * ledger.
 */
async function isLostInTime(world: World, id: string, restMs = GRACE_MS): Promise<void> {
  await world.clock.advance(restMs - 1);
  expect(await attemptOf(world, id)).toMatchObject({ closed: null });
  await world.clock.advance(1);
  expect(await attemptOf(world, id)).toMatchObject({ closed: "lease_lost", status: 502 });
  const kinds = await world.kinds(id);
  expect(kinds.filter((kind) => kind === "taken")).toHaveLength(1);
  expect(kinds.indexOf("taken")).toBeLessThan(kinds.indexOf("lease_lost"));
  expect(await world.check(false)).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

/** Makes a hub write the handoff once more: its recipient hands off a child of it. */
async function writeThrough(hub: HubServer, world: World, parentId: string): Promise<void> {
  const now = world.clock.now();
  const part = {
    waybill: 1,
    kind: "handoff",
    id: newId(),
    from: "worker",
    domain: world.hub.domain,
    to: "worker",
    handoff_id: newId(),
    correlation_id: JOB,
    parent_id: parentId,
    hop: 1,
    issued_at: new Date(now).toISOString(),
    salt: newSalt(),
    deadline: new Date(now + 10_000).toISOString(),
    body: { capability: "work" },
  };
  await hub.submit(signCompact(stringifyJson(part), world.key("worker")));
  await settled();
}

test("WB-48 an attempt that was taken and is not accepted is lost when the grace is over", async () => {
  const world = await World.open();
  const { id, commits } = await taken(world);
  expect(commits).toBe(0);
  await isLostInTime(world, id);
});

test("WB-48 the grace also ends for a handoff that was written again meanwhile", async () => {
  const world = await World.open();
  const { id } = await taken(world);
  await world.clock.advance(1_000);
  await writeThrough(world.server, world, id);
  await isLostInTime(world, id, GRACE_MS - 1_000);
});

test("WB-48 the grace also ends if another hub, which does not know of the frame, has written the handoff", async () => {
  const world = await World.open();
  const { id } = await taken(world);
  const other = await world.openServer();
  await world.clock.advance(1_000);
  await writeThrough(other, world, id);
  await isLostInTime(world, id, GRACE_MS - 1_000);
  await other.close();
});

test("WB-48 the grace also ends after an outage of the store at that time", async () => {
  const world = await World.open();
  const { id } = await taken(world);
  const commit = world.store.commit.bind(world.store);
  world.store.commit = () => Promise.reject(new WaybillError(503, "planted"));
  await world.clock.advance(GRACE_MS);
  world.store.commit = commit;
  expect(world.errors.splice(0)).toMatchObject([{ message: "planted" }]);
  await isLostInTime(world, id, 1_000);
});

test("the grace costs nothing for an attempt that was accepted or has ended within it", async () => {
  const world = await World.open();
  const worker = world.agent("worker", { credit: 2 });
  worker.serve({ name: "work", lease_seconds: 600 }, ({ input }) =>
    input === "ends" ? "done" : new Promise<never>(() => undefined),
  );
  await worker.start();
  const owner = world.agent("owner");
  const [ends, goesOn] = ["ends", "goes on"].map((input) =>
    owner.handoff({ to: "worker", capability: "work", input, timeoutMs: 600_000 }),
  );
  await ends!.result;
  await goesOn!.accepted;
  await settled();
  let asked = 0;
  const handoff = world.store.handoff.bind(world.store);
  world.store.handoff = (id) => {
    asked++;
    return handoff(id);
  };
  let commits = 0;
  world.store.onCommit(() => commits++);
  await world.clock.advance(GRACE_MS + 1);
  expect({ asked, commits }).toEqual({ asked: 0, commits: 0 });
  expect(await world.kinds(goesOn!.id)).not.toContain("lease_lost");
  expect(world.errors).toEqual([]);
  await goesOn!.cancel();
});

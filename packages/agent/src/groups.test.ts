import { newId, WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { GroupHandle, GroupOptions } from "./delegating/group.ts";
import { interceptCommits, settled, World } from "./world-fixture.ts";

interface Race {
  readonly world: World;
  readonly group: GroupHandle;
  readonly stopped: number[];
  finish(index: number): void;
  fail(index: number): void;
  states(): Promise<string[]>;
}

/** A group whose delegator is gone once all members are under way. */
async function race(size: number, options: GroupOptions, world = new World()): Promise<Race> {
  await world.up();
  const ends = new Map<number, (value: string | WaybillError) => void>();
  const stopped: number[] = [];
  const worker = world.agent("worker");
  worker.serve<number>("run", async ({ input, signal }) => {
    signal.addEventListener("abort", () => stopped.push(input));
    const value = await new Promise<string | WaybillError>((resolve) => ends.set(input, resolve));
    if (typeof value === "string") return value;
    throw value;
  });
  await worker.start();
  const owner = world.agent("owner");
  const all = Array.from({ length: size }, (_, input) => ({
    to: "worker",
    capability: "run",
    input,
    timeoutMs: 600_000,
  }));
  const group = owner.handoffAll(all, options);
  await Promise.all(group.handles.map((each) => each.accepted));
  await owner.stop({ mode: "abandon" });
  return {
    world,
    group,
    stopped,
    finish: (index) => ends.get(index)!("done"),
    fail: (index) => ends.get(index)!(new WaybillError(500, "broken", { retryable: false })),
    states: async () =>
      Promise.all(
        group.handles.map(async ({ id }) => (await world.hub.handoff(id, "owner"))!.state),
      ),
  };
}

async function holds(world: World, isComplete = true): Promise<void> {
  expect(await world.check(isComplete)).toMatchObject({ holds: true, violations: [] });
}

test("the hub cancels the rest of a decided group after its delegator is gone", async () => {
  const any = await race(3, { join: "any" });
  any.finish(1);
  await settled();
  expect(await any.states()).toEqual(["cancelled", "completed", "cancelled"]);
  expect(any.stopped.toSorted((a, b) => a - b)).toEqual([0, 2]);
  expect(await any.world.kinds(any.group.handles[0]!.id)).toContain("group_decided");
  await holds(any.world);

  const all = await race(3, { join: "all" });
  all.finish(0);
  await settled();
  expect(await all.states()).toEqual(["completed", "open", "open"]);
  all.fail(2);
  await settled();
  expect(await all.states()).toEqual(["completed", "cancelled", "failed"]);
  await holds(all.world);

  const quorum = await race(4, { join: "quorum", quorum: 2 });
  quorum.fail(0);
  quorum.finish(1);
  await settled();
  expect(await quorum.states()).toEqual(["failed", "completed", "open", "open"]);
  quorum.finish(2);
  await settled();
  expect(await quorum.states()).toEqual(["failed", "completed", "completed", "cancelled"]);
  await holds(quorum.world);
});

test("the rest of a failed group goes on if its delegator wants that, and other groups are untouched", async () => {
  const wait = await race(3, { join: "all", onFailure: "wait" });
  wait.fail(0);
  await settled();
  expect(await wait.states()).toEqual(["failed", "open", "open"]);
  await holds(wait.world, false);
});

test("a crash between an end and the decision of its group leaves no member open", async () => {
  const world = new World();
  let isBroken = false;
  interceptCommits(world.store, (commit, make) =>
    isBroken && commit.handoff?.state === "cancelled"
      ? Promise.reject(new WaybillError(503, "planted"))
      : make(commit),
  );
  const any = await race(3, { join: "any" }, world);
  isBroken = true;
  any.finish(0);
  await settled();
  expect(await any.states()).toEqual(["completed", "open", "open"]);
  await world.down();
  isBroken = false;
  await world.up();
  await settled();
  expect(await any.states()).toEqual(["completed", "cancelled", "cancelled"]);
  await world.clock.advance(10_000);
  expect(any.stopped.toSorted((a, b) => a - b)).toEqual([1, 2]);
  await holds(world);
});

test("a member that arrives after its group was decided is not started", async () => {
  const any = await race(2, { join: "any" });
  any.finish(0);
  await settled();
  const [member] = any.group.handles;
  const { group, correlation_id: correlationId } = member!.envelope;
  const late = any.world.agent("owner").handoff({
    to: "worker",
    capability: "run",
    input: 9,
    correlationId,
    group: { ...group!, id: group!.id, index: 1 },
    replayOf: any.group.handles[1]!.id,
  });
  await expect(late.result).rejects.toMatchObject({ status: 499 });
  await settled();
  await holds(any.world);
});

test("a hub that crashes between a late member's commit and the decision of its group ends it after the restart", async () => {
  const world = new World();
  const lateId = newId();
  let isBroken = false;
  let taken = (): void => undefined;
  const isTaken = new Promise<void>((resolve) => (taken = resolve));
  const restore = interceptCommits(world.store, async (commit, make) => {
    if (isBroken && commit.handoff?.state === "cancelled") throw new WaybillError(503, "planted");
    const outcome = await make(commit);
    if (commit.handoff?.id === lateId && !isBroken) {
      isBroken = true;
      taken();
    }
    return outcome;
  });
  const any = await race(2, { join: "any" }, world);
  any.finish(0);
  await settled();
  const owner = world.agent("owner");
  const { correlation_id: correlationId, group: place } = any.group.handles[1]!.envelope;
  const late = owner.handoff({
    to: "worker",
    capability: "run",
    input: 9,
    handoffId: lateId,
    correlationId,
    group: place,
    replayOf: any.group.handles[1]!.id,
  });
  await isTaken;
  await owner.stop({ mode: "abandon" });
  await settled();
  await world.down();
  isBroken = false;
  restore();
  expect(await world.store.handoff(late.id)).toMatchObject({ state: "open" });
  await world.up();
  await world.clock.advance(10_000);
  expect(await world.store.handoff(late.id)).toMatchObject({ state: "cancelled" });
  expect(any.stopped).not.toContain(0);
  await holds(world);
});

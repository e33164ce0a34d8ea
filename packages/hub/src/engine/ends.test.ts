import { createReply, digestOfJws, newId } from "@waybill/protocol";
import type { Group } from "@waybill/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FailingStore, handoffIn, offersOf, settled, World } from "../world-fixture.ts";
import type { AttachedMember, Member } from "../world-fixture.ts";

const DONE = { status: 200, output: "done" } as const;
const FAILED = { status: 500, error: { message: "no" }, effects: "none" } as const;

let world: World;
let owner: Member;
let worker: AttachedMember;

beforeEach(async () => {
  world = await World.open();
  owner = await world.publish("owner");
  worker = await world.attach(await world.publish("worker", [{ name: "work" }]), 10);
  await world.publish("away", [{ name: "part" }]);
});
afterEach(() => world.hub.close());

async function stateOf(id: string, agent = "owner") {
  const { state, status } = (await world.hub.handoff(id, agent))!;
  return { state, status };
}

describe("the end of a handoff", () => {
  test("ends its open children, and nothing else", async () => {
    await world.handOff(owner);
    const [offer] = offersOf(worker);
    const parent = handoffIn(offer!);
    const part = { parent, to: "away", body: { capability: "part" } };
    const child = await world.handOff(worker, part);
    const other = await world.handOff(owner);
    await world.result(worker, offer!, DONE);
    expect(await stateOf(child.handoff_id, "worker")).toEqual({ state: "cancelled", status: 499 });
    expect(await stateOf(other.handoff_id)).toMatchObject({ state: "open" });
  });

  test("is delivered to its delegator again until it is acknowledged", async () => {
    await world.handOff(owner);
    await world.result(worker, offersOf(worker)[0]!, DONE);
    for (const instance of ["one", "two"]) {
      const attached = await world.attach(owner, 1, instance);
      expect(attached.deliveries).toHaveLength(1);
    }
  });

  test("is not delivered again because its acknowledgement could not be committed", async () => {
    const failing = new FailingStore();
    const over = await World.open({ store: failing.store });
    const [delegator, recipient] = [
      await over.publish("owner"),
      await over.publish("worker", [{ name: "work" }]),
    ];
    const attached = await over.attach(delegator);
    const line = await over.attach(recipient);
    const handoff = await over.handOff(delegator, { to: "worker" });
    await over.result(line, offersOf(line)[0]!, DONE);
    const results = () => attached.deliveries.filter(({ type }) => type === "envelope");
    expect(results()).toHaveLength(1);
    const { envelope } = results()[0] as { readonly envelope: string };
    const acknowledgement = createReply(
      handoff,
      {
        kind: "receipt",
        from: "owner",
        to: over.hub.id,
        re: digestOfJws(envelope),
        body: { status: 200 },
      },
      { now: () => over.clock.now(), newId: () => newId() },
    );
    failing.fail("commit", new Error("the disk failed"));
    await expect(over.submit(acknowledgement, delegator.key)).rejects.toThrow("the disk failed");
    await settled();
    expect(results()).toHaveLength(1);
    await over.submit(acknowledgement, delegator.key);
    await over.hub.close();
  });
});

describe("a group", () => {
  async function member(index: number, more: Partial<Group> = {}) {
    const group: Group = { id: groupId, index, size: 3, join: "any", ...more };
    return world.handOff(owner, { group, correlationId: job });
  }
  const [groupId, job] = [newId(), newId()];

  test("that needs any one is ended by its first result", async () => {
    const members = [await member(0), await member(1), await member(2)];
    await world.result(worker, offersOf(worker)[1]!, DONE);
    const states = await Promise.all(members.map(({ handoff_id: id }) => stateOf(id)));
    expect(states.map(({ state }) => state)).toEqual(["cancelled", "completed", "cancelled"]);
  });

  test("that is decided takes no more members", async () => {
    await member(0);
    await world.result(worker, offersOf(worker)[0]!, DONE);
    const late = await member(1);
    expect(await stateOf(late.handoff_id)).toMatchObject({ state: "cancelled" });
  });

  test("that needs all is ended by the first failure", async () => {
    const all = { join: "all" } as const;
    const members = [await member(0, all), await member(1, all)];
    await world.result(worker, offersOf(worker)[0]!, FAILED);
    const states = await Promise.all(members.map(({ handoff_id: id }) => stateOf(id)));
    expect(states.map(({ state }) => state)).toEqual(["failed", "cancelled"]);
  });

  test("that needs a quorum continues until it is reached", async () => {
    const quorum = { join: "quorum", quorum: 2 } as const;
    const last = [await member(0, quorum), await member(1, quorum), await member(2, quorum)][2]!;
    await world.result(worker, offersOf(worker)[0]!, DONE);
    expect(await stateOf(last.handoff_id)).toMatchObject({ state: "open" });
    await world.result(worker, offersOf(worker)[1]!, DONE);
    expect(await stateOf(last.handoff_id)).toMatchObject({ state: "cancelled" });
  });

  test("that needs all continues after a success", async () => {
    const all = { join: "all" } as const;
    const members = [await member(0, all), await member(1, all)];
    await world.result(worker, offersOf(worker)[0]!, DONE);
    expect(await stateOf(members[1]!.handoff_id)).toMatchObject({ state: "open" });
  });
});

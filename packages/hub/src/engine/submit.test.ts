import { newId } from "@waybill/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handoffIn, offersOf, World } from "../world-fixture.ts";
import type { AttachedMember, Member, Offer } from "../world-fixture.ts";

const DONE = { status: 200, output: "done" } as const;

let world: World;
let owner: Member;
let worker: AttachedMember;
let stranger: Member;
let offer: Offer;

beforeEach(async () => {
  world = await World.open({ operators: ["admin"] });
  owner = await world.publish("owner");
  worker = await world.attach(await world.publish("worker", [{ name: "work" }]));
  stranger = await world.publish("stranger", [{ name: "work" }]);
  await world.handOff(owner, { to: "worker" });
  offer = offersOf(worker)[0]!;
});
afterEach(() => world.hub.close());

async function entriesOf(id: string): Promise<number> {
  return (await world.store.ledgerOf(id, { limit: 100 })).length;
}

describe("an envelope from an agent that is no party", () => {
  test("is refused with 403 and leaves nothing on record", async () => {
    const before = await entriesOf(offer.handoff_id);
    const result = world.reply("result", stranger, offer, DONE);
    await expect(world.submit(result, stranger.key)).rejects.toMatchObject({ status: 403 });
    expect(await entriesOf(offer.handoff_id)).toBe(before);
    expect(await world.hub.handoff(offer.handoff_id, "owner")).toMatchObject({ state: "open" });
  });

  test("is refused in the same words if there is no such handoff", async () => {
    const result = world.reply("result", stranger, offer, DONE);
    const unknown = newId();
    const refusals = await Promise.all(
      [result, { ...result, id: newId(), handoff_id: unknown }].map((each) =>
        world.submit(each, stranger.key).catch((error: unknown) => (error as Error).message),
      ),
    );
    expect(refusals[0]).toBe(refusals[1]!.replace(unknown, offer.handoff_id));
  });
});

describe("other content under the id of a handoff", () => {
  test("is refused with 409 after its deadline too, by a hub that has forgotten it", async () => {
    await world.result(worker, offer, DONE);
    world = await world.restarted();
    await world.pass(120_000);
    const other = { ...handoffIn(offer), body: { capability: "work", input: "another" } };
    await expect(world.submit(other, owner.key)).rejects.toMatchObject({ status: 409 });
  });
});

describe("the same envelope again", () => {
  test("gets one receipt however often it is sent, and changes nothing", async () => {
    const result = world.reply("result", worker, offer, DONE);
    await world.submit(result, worker.key);
    const [second, third] = [
      await world.submit(result, worker.key),
      await world.submit(result, worker.key),
    ];
    expect(second).toBe(third);
    const record = await world.store.handoff(offer.handoff_id);
    await world.submit(result, worker.key);
    expect(await world.store.handoff(offer.handoff_id)).toEqual(record);
  });

  test("with other content is refused with 409", async () => {
    const handoff = world.handoff("owner", { to: "worker" });
    await world.submit(handoff, owner.key);
    const changed = { ...handoff, body: { capability: "work", input: "other" } };
    await expect(world.submit(changed, owner.key)).rejects.toMatchObject({ status: 409 });
  });
});

test("a result after the end is refused with 410, and the first result stays", async () => {
  await world.result(worker, offer, DONE);
  const record = await world.store.handoff(offer.handoff_id);
  const late = world.result(worker, offer, { status: 200, output: "another" });
  await expect(late).rejects.toMatchObject({ status: 410 });
  expect((await world.store.handoff(offer.handoff_id))!.state).toBe(record!.state);
});

test("a result after the deadline has no effect besides ending the handoff", async () => {
  world.clock.advance(60_000);
  await expect(world.result(worker, offer, DONE)).rejects.toMatchObject({ status: 410 });
  expect(await world.hub.handoff(offer.handoff_id, "owner")).toMatchObject({ status: 504 });
});

test("a result addressed to any agent but the delegator is refused with 403", async () => {
  const result = { ...world.reply("result", worker, offer, DONE), to: "stranger" };
  await expect(world.submit(result, worker.key)).rejects.toMatchObject({ status: 403 });
});

test("a handoff is not its own parent", async () => {
  const handoff = world.handoff("owner", { to: "worker" });
  const own = { ...handoff, parent_id: handoff.handoff_id, hop: 1 };
  await expect(world.submit(own, owner.key)).rejects.toMatchObject({ status: 400 });
});

describe("a replay", () => {
  const replayOf = () => ({ to: "worker", replayOf: offer.handoff_id });

  test("is refused while the handoff is open", async () => {
    await expect(world.handOff(owner, replayOf())).rejects.toMatchObject({ status: 409 });
  });

  test("is allowed only to its delegator and to operators", async () => {
    await world.pass(60_000);
    await expect(world.handOff(stranger, replayOf())).rejects.toMatchObject({ status: 403 });
    const worked = world.handOff(worker, { ...replayOf(), to: "stranger" });
    await expect(worked).rejects.toMatchObject({ status: 403 });
    await world.handOff(await world.publish("admin"), replayOf());
  });

  test("is allowed to a member of the operators' group as long as it is one", async () => {
    await world.pass(60_000);
    const { operator } = world.hub;
    await operator.changeGroup("operators", { add: ["stranger"] });
    await world.handOff(stranger, replayOf());
    await operator.changeGroup("operators", { remove: ["stranger"] });
    await expect(world.handOff(stranger, replayOf())).rejects.toMatchObject({ status: 403 });
  });

  test("is made by operators once, also by two at the same time", async () => {
    await world.pass(60_000);
    const admin = await world.publish("admin");
    await world.hub.operator.changeGroup("operators", { add: ["stranger"] });
    const both = await Promise.allSettled([
      world.handOff(admin, replayOf()),
      world.handOff(stranger, replayOf()),
    ]);
    expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(world.handOff(admin, replayOf())).rejects.toMatchObject({ status: 409 });
  });

  test("is noted at the handoff once", async () => {
    await world.pass(60_000);
    const before = await entriesOf(offer.handoff_id);
    await world.handOff(owner, replayOf());
    await world.handOff(owner, replayOf());
    expect(await entriesOf(offer.handoff_id)).toBe(before + 1);
  });
});

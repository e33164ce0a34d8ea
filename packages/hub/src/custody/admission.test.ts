import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handoffIn, offersOf, World } from "../world-fixture.ts";
import type { AttachedMember, Member, Offer } from "../world-fixture.ts";

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER_TRACE = "00-ffffffffffffffffffffffffffffffff-b7ad6b7169203331-01";

let world: World;
let owner: Member;
let worker: AttachedMember;
let offer: Offer;

beforeEach(async () => {
  world = await World.open({ limits: { fanOut: 3, answerCharacters: 10_000 } });
  owner = await world.publish("owner", [{ name: "part" }]);
  worker = await world.attach(await world.publish("worker", [{ name: "work" }, { name: "part" }]));
  await world.publish("helper", [{ name: "part" }]);
  await world.handOff(owner, { traceparent: TRACE });
  offer = offersOf(worker)[0]!;
  await world.receipt(worker, offer, { status: 101 });
});
afterEach(() => world.hub.close());

/** A child of the worker's handoff. */
function child() {
  return world.handoff("worker", {
    parent: handoffIn(offer),
    to: "helper",
    body: { capability: "part" },
  });
}

describe("a child of a handoff", () => {
  test("is taken from the agent that works on the parent", async () => {
    await world.submit(child(), worker.key);
    const { id, state } = (await world.hub.handoff(child().parent_id!, "worker"))!;
    expect([id, state]).toEqual([handoffIn(offer).handoff_id, "open"]);
  });

  test("is refused with 410 once the attempt is closed, though the parent is open", async () => {
    await world.receipt(worker, offer, { status: 300, reason: "no time" });
    expect(await world.hub.handoff(offer.handoff_id, "owner")).toMatchObject({ state: "open" });
    await expect(world.submit(child(), worker.key)).rejects.toMatchObject({ status: 410 });
  });

  test("is refused with 410 once the parent has ended", async () => {
    await world.result(worker, offer, { status: 200, output: "done" });
    await expect(world.submit(child(), worker.key)).rejects.toMatchObject({ status: 410 });
  });

  test("is refused with 403 from any other agent, whether or not there is such a parent", async () => {
    const { key } = owner;
    const made = { ...child(), from: "owner" };
    const unknown = "01890000-0000-7000-8000-000000000000";
    const refusals = await Promise.all(
      [made, { ...made, id: made.id.replace(/.$/, "0"), parent_id: unknown }].map((each) =>
        world.submit(each, key).catch((error: unknown) => error as Error),
      ),
    );
    for (const each of refusals) expect(each).toMatchObject({ status: 403 });
    const [known, ghost] = refusals.map((each) => (each as Error).message);
    expect(known!.replace(offer.handoff_id, "…")).toBe(ghost!.replace(unknown, "…"));
  });

  test("may not outlive its parent", async () => {
    const late = new Date(Date.parse(handoffIn(offer).deadline) + 1_000).toISOString();
    const made = { ...child(), deadline: late };
    await expect(world.submit(made, worker.key)).rejects.toMatchObject({ at: "/deadline" });
  });

  test("counts one hop more than its parent", async () => {
    for (const hop of [0, 2]) {
      const made = { ...child(), hop };
      await expect(world.submit(made, worker.key)).rejects.toMatchObject({ at: "/hop" });
    }
  });

  test("belongs to the job of its parent", async () => {
    const made = { ...child(), correlation_id: child().id };
    await expect(world.submit(made, worker.key)).rejects.toMatchObject({ at: "/correlation_id" });
  });

  test("belongs to the trace of its parent", async () => {
    const made = { ...child(), traceparent: OTHER_TRACE };
    await expect(world.submit(made, worker.key)).rejects.toMatchObject({ at: "/traceparent" });
  });

  test("is limited in number", async () => {
    for (let made = 0; made < 3; made++) await world.submit(child(), worker.key);
    await expect(world.submit(child(), worker.key)).rejects.toMatchObject({ status: 413 });
  });
});

describe("an envelope about a handoff", () => {
  test("is refused under another correlation id", async () => {
    const result = world.reply("result", worker, offer, { status: 200, output: "done" });
    const made = { ...result, correlation_id: result.id };
    await expect(world.submit(made, worker.key)).rejects.toMatchObject({ at: "/correlation_id" });
  });

  test("is refused in another trace", async () => {
    const result = world.reply("result", worker, offer, { status: 200, output: "done" });
    const made = { ...result, traceparent: OTHER_TRACE };
    await expect(world.submit(made, worker.key)).rejects.toMatchObject({ at: "/traceparent" });
  });
});

describe("a member of a group", () => {
  const groupId = "01890000-0000-7000-8000-00000000000a";
  const job = "01890000-0000-7000-8000-00000000000b";

  function member(index: number, size = 3, correlationId = job) {
    return world.handoff("owner", {
      to: "worker",
      correlationId,
      group: { id: groupId, index, size, join: "all" },
    });
  }

  beforeEach(() => world.submit(member(0), owner.key));

  test("is taken in its own place", async () => {
    await world.submit(member(1), owner.key);
    await world.submit(member(2), owner.key);
  });

  test("is refused in a place that is taken", async () => {
    const again = member(0);
    await expect(world.submit(again, owner.key)).rejects.toMatchObject({ at: "/group/index" });
  });

  test("is refused with other terms than those of the other members", async () => {
    for (const made of [member(1, 2), member(1, 3, groupId)]) {
      await expect(world.submit(made, owner.key)).rejects.toMatchObject({ at: "/group" });
    }
  });
});

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FailingStore, offersOf, World } from "../world-fixture.ts";
import type { Member } from "../world-fixture.ts";

const MINUTE_MS = 60_000;

let failing: FailingStore;
let world: World;
let anna: Member;
let ben: Member;

beforeEach(async () => {
  failing = new FailingStore();
  world = await World.open({ store: failing.store });
  anna = await world.publish("anna");
  ben = await world.publish("ben");
  await world.publish("worker", [{ name: "work" }]);
  await world.hub.operator.changeGroup("team", { add: ["anna", "ben"] });
});
afterEach(() => world.hub.close());

const LATE = { timeoutMs: 10 * MINUTE_MS };

describe("the open handoffs of a group", () => {
  beforeEach(() => world.hub.operator.setQuota("team", { open: 2 }));

  test("are bounded for all of its members together", async () => {
    await world.handOff(anna);
    await world.handOff(ben);
    for (const member of [anna, ben]) {
      await expect(world.handOff(member)).rejects.toMatchObject({ status: 301 });
    }
    await world.handOff(await world.publish("zoe"));
  });

  test("make room as they end", async () => {
    await world.handOff(anna);
    await world.handOff(ben);
    const worker = { agent: "worker2" };
    const attached = await world.attach(await world.publish(worker.agent, [{ name: "work" }]));
    await world.result(attached, offersOf(attached)[0]!, { status: 200, output: "done" });
    await world.handOff(ben);
    await expect(world.handOff(anna)).rejects.toMatchObject({ status: 301 });
  });

  test("of somebody who is taken out of it count no more", async () => {
    await world.handOff(anna);
    await world.handOff(anna);
    await world.hub.operator.changeGroup("team", { remove: ["anna"] });
    await world.handOff(ben);
    await world.handOff(anna);
  });
});

describe("the handoffs of a group in a minute", () => {
  beforeEach(() => world.hub.operator.setQuota("team", { per_minute: 2 }));

  test("are bounded for all of its members together, until a minute has passed", async () => {
    await world.handOff(anna, LATE);
    await world.pass(MINUTE_MS / 2);
    await world.handOff(ben, LATE);
    await expect(world.handOff(anna, LATE)).rejects.toMatchObject({ status: 301 });
    await world.pass(MINUTE_MS / 2 - 1);
    await expect(world.handOff(anna, LATE)).rejects.toMatchObject({ status: 301 });
    await world.pass(1);
    await world.handOff(anna, LATE);
    await expect(world.handOff(anna, LATE)).rejects.toMatchObject({ status: 301 });
  });

  test("are remembered over a restart, each with its time", async () => {
    await world.handOff(anna, LATE);
    await world.pass(MINUTE_MS / 2);
    await world.handOff(ben, LATE);
    world = await world.restarted();
    await expect(world.handOff(anna, LATE)).rejects.toMatchObject({ status: 301 });
    await world.pass(MINUTE_MS / 2);
    await world.handOff(anna, LATE);
    await expect(world.handOff(anna, LATE)).rejects.toMatchObject({ status: 301 });
  });

  test("do not count what the store has failed to write", async () => {
    failing.fail("commit", new Error("The disk is full."));
    await expect(world.handOff(anna, LATE)).rejects.toThrow("The disk is full.");
    await world.handOff(anna, LATE);
    await world.handOff(anna, LATE);
    await expect(world.handOff(anna, LATE)).rejects.toMatchObject({ status: 301 });
  });

  test("that come at once are bounded too", async () => {
    const at = await Promise.allSettled([anna, ben, anna, ben].map((each) => world.handOff(each)));
    expect(at.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  });
});

test("a group has no room for an agent that is in too many", async () => {
  for (let count = 0; count < 15; count++) {
    await world.hub.operator.changeGroup(`group-${count}`, { add: ["anna"] });
  }
  const more = world.hub.operator.changeGroup("more", { add: ["anna"] });
  await expect(more).rejects.toMatchObject({ status: 413 });
  await world.hub.operator.changeGroup("team", { add: ["anna"] });
});

test("a group has at most a thousand members", async () => {
  const members = Array.from({ length: 1_000 }, (_, number) => `agent-${number}`);
  await world.hub.operator.changeGroup("large", { add: members });
  const more = world.hub.operator.changeGroup("large", { add: ["anna"] });
  await expect(more).rejects.toMatchObject({ status: 413 });
});

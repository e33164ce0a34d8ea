import type { Delivery, Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { settled, World } from "../world-fixture.ts";

type Offer = Extract<Delivery, { type: "offer" }>;

/** A hub whose offers a test keeps, to deliver them again or later. */
async function worldWithOffers() {
  const world = await World.open();
  const offers: Offer[] = [];
  let isHeld = false;
  let deliver: (delivery: Delivery) => void = () => undefined;
  const hub: Hub = {
    ...world.hub,
    domain: world.hub.domain,
    attach(request, handler, show) {
      deliver = handler;
      const pass = (delivery: Delivery) => {
        if (delivery.type === "offer") offers.push(delivery);
        if (!isHeld) handler(delivery);
      };
      return world.hub.attach(request, pass, show);
    },
  };
  const hold = () => (isHeld = true);
  return { world, hub, offers, hold, deliver: (delivery: Delivery) => deliver(delivery) };
}

test.each(["finish", "release"] as const)(
  "an agent that stops takes no work that was on its way to it: %s",
  async (mode) => {
    const { world, hub, offers, hold, deliver } = await worldWithOffers();
    const finish = Promise.withResolvers<string>();
    let begun = 0;
    const worker = world.agent("worker", { hub });
    worker.serve("work", () => {
      begun++;
      return finish.promise;
    });
    await worker.start();
    const owner = world.agent("owner");
    const first = owner.handoff({ to: "worker", capability: "work" });
    await first.accepted;
    hold();
    const second = owner.handoff({ to: "worker", capability: "work" });
    await second.custody;
    await settled();
    const stopping = worker.stop({ mode });
    await settled();
    deliver(offers[1]!);
    await settled();
    finish.resolve("done");
    await stopping;
    expect(begun).toBe(1);
    expect(await world.kinds(second.id)).toEqual(["handoff", "offer"]);
  },
);

test("an agent that stops has no room for more", async () => {
  const { world, hub, offers } = await worldWithOffers();
  const finish = Promise.withResolvers<string>();
  const worker = world.agent("worker", { hub });
  worker.serve("work", () => finish.promise);
  await worker.start();
  const owner = world.agent("owner");
  await owner.handoff({ to: "worker", capability: "work" }).accepted;
  const stopping = worker.stop();
  const next = owner.handoff({ to: "worker", capability: "work" });
  await next.custody;
  await settled();
  expect(offers).toHaveLength(1);
  finish.resolve("done");
  await stopping;
});

test("an offer that comes twice is worked on once, also after its end", async () => {
  const { world, hub, offers, hold, deliver } = await worldWithOffers();
  let begun = 0;
  const worker = world.agent("worker", { hub });
  worker.serve("work", () => `${++begun}`);
  await worker.start();
  const owner = world.agent("owner");
  const handle = owner.handoff({ to: "worker", capability: "work" });
  expect(await handle.result).toMatchObject({ output: "1" });
  await settled();
  // It does not take the hub's word to stop it.
  hold();
  deliver(offers[0]!);
  await settled();
  expect(begun).toBe(1);
});

/// <reference types="node" />
import { memoryStore } from "@waybill/hub";
import type { HubLogEvent, Store } from "@waybill/hub";
import { afterEach, expect, test } from "vitest";
import { ask, openWorld, Wire } from "../served-fixture.ts";
import type { World } from "../served-fixture.ts";

let world: World;
afterEach(() => world.close());

/** A store of which keys are read no sooner than the test says. */
function storeWithGate(): {
  store: Store;
  hold: () => void;
  asked: Promise<void>;
  open: () => void;
} {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  const store = new Proxy(memoryStore(), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "key") return value.bind(target) as unknown;
      return async (kid: string) => {
        if (isHeld) {
          asked.resolve();
          await gate.promise;
        }
        return target.key(kid);
      };
    },
  });
  return { store, hold: () => (isHeld = true), asked: asked.promise, open: gate.resolve };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("an agent whose socket is gone before its hello is answered is not attached", async () => {
  const { store, hold, asked, open } = storeWithGate();
  const attached = Promise.withResolvers<void>();
  const log = ({ event }: HubLogEvent) => {
    if (event === "attached") attached.resolve();
  };
  world = await openWorld({ hub: { store, log } });
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await Wire.open(world.url);
  const { nonce } = await wire.next("challenge");
  hold();
  wire.say({ type: "hello", proof: worker.hello(nonce), credit: 1 });
  await asked;
  await wire.close();
  await ask(`${world.url}/healthz`);
  open();
  await attached.promise;
  await turns();
  expect(await world.hub.operator.presence("worker")).toMatchObject({ isConnected: false });
});

test("a socket takes one hello, and frames only after it", async () => {
  world = await openWorld();
  const worker = await world.party("worker", [{ name: "work" }]);
  const early = await Wire.open(world.url);
  await early.next("challenge");
  early.say({ type: "credit", credit: 1 });
  expect(await early.next("closed")).toMatchObject({ problem: { waybill_status: 401 } });
  const wire = await worker.attach();
  wire.say({ type: "hello", proof: worker.hello("again"), credit: 1 });
  expect(await wire.next("closed")).toMatchObject({ problem: { waybill_status: 400 } });
});

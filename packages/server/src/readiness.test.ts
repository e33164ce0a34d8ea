/// <reference types="node" />
import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { generateKey, WaybillError } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, openWorld } from "./served-fixture.ts";
import type { Party, World } from "./served-fixture.ts";

let world: World;
let owner: Party;
let store: Store;
let now: number;
let isFull: boolean;
/** Every write to the store since the start of the test. */
let writes: ("commit" | "probe" | "setting")[];

const noSpace = () => new WaybillError(503, "There is no space left on the disk.");

beforeEach(async () => {
  now = Date.now();
  isFull = false;
  store = memoryStore();
  const commit = store.commit.bind(store);
  store.commit = (given) => {
    writes.push("commit");
    return isFull ? Promise.reject(noSpace()) : commit(given);
  };
  const saveSetting = store.saveSetting.bind(store);
  store.saveSetting = (name, value) => {
    writes.push(name === "readiness probe" ? "probe" : "setting");
    return isFull ? Promise.reject(noSpace()) : saveSetting(name, value);
  };
  writes = [];
  // A settable clock: the rate of probes must not depend on the speed of the tests.
  const clock = {
    now: () => now,
    setTimer(at: number, callback: () => void) {
      const timer = setTimeout(callback, Math.max(0, at - now));
      return () => clearTimeout(timer);
    },
  };
  world = await openWorld({ hub: { store, key: generateKey(), clock } });
  owner = await world.party("owner", [{ name: "work" }]);
  writes = [];
});

afterEach(() => world.close());

const readiness = async () => (await ask(`${world.url}/readyz`)).status;

test("/readyz writes nothing while commits succeed", async () => {
  expect((await owner.submit(owner.handoff("owner").text)).status).toBe(200);
  const before = writes.length;
  for (let count = 0; count < 5; count++) {
    expect(await readiness()).toBe(200);
    now += 2_000;
  }
  expect(writes.length).toBe(before);
});

test("after a failed commit /readyz is 503, with one probe per second, until a probe succeeds", async () => {
  isFull = true;
  const handoff = owner.handoff("owner");
  expect(await owner.submit(handoff.text)).toMatchObject({ status: 503 });
  for (let count = 0; count < 5; count++) expect(await readiness()).toBe(503);
  expect(writes.filter((write) => write === "probe")).toHaveLength(1);
  now += 1_000;
  expect(await Promise.all([readiness(), readiness(), readiness()])).toEqual([503, 503, 503]);
  expect(writes.filter((write) => write === "probe")).toHaveLength(2);
  expect((await ask(`${world.url}/healthz`)).status).toBe(200);

  isFull = false;
  // There is space again, but the last probe was less than a second ago.
  expect(await readiness()).toBe(503);
  now += 1_000;
  expect(await readiness()).toBe(200);
  const before = writes.length;
  expect(await readiness()).toBe(200);
  expect(writes.length).toBe(before);
  expect(await owner.submit(handoff.text)).toMatchObject({ status: 200 });
});

test("a probe is as large as the commit that failed", async () => {
  isFull = true;
  const input = "x".repeat(300_000);
  await owner.submit(owner.handoff("owner", { body: { capability: "work", input } }).text);
  const saved: string[] = [];
  store.saveSetting = (name, value) => {
    if (name === "readiness probe") saved.push(value);
    return Promise.resolve();
  };
  expect(await readiness()).toBe(200);
  expect(saved.map(({ length }) => length)).toEqual([expect.any(Number), 0]);
  expect(saved[0]!.length).toBeGreaterThan(300_000);
});

import { expect, test } from "vitest";
import { StillClock } from "../still-clock-fixture.ts";
import type { Store, StoredHandoff } from "../store.ts";
import { Timers } from "./timers.ts";

/** The part of a store that timers use, with handoffs that are all due now. */
function dueAtOnce(count: number) {
  const due = Array.from({ length: count }, (_, index) => ({ id: `${index}` }) as StoredHandoff);
  const store: Pick<Store, "due" | "nextWakeAt"> = {
    due: (_now, limit) => Promise.resolve(due.slice(0, limit)),
    nextWakeAt: () => Promise.resolve(due.length === 0 ? null : 0),
  };
  return {
    store: store as Store,
    ended: (each: StoredHandoff) => due.splice(due.indexOf(each), 1),
  };
}

test("thousands of handoffs due at once are processed a few at a time", async () => {
  const { store, ended } = dueAtOnce(1_000);
  const clock = { now: () => 1, setTimer: (_at: number, call: () => void) => armed(call) };
  const calls: (() => void)[] = [];
  const armed = (call: () => void) => {
    calls.push(call);
    return () => undefined;
  };
  const done = Promise.withResolvers<void>();
  let [atOnce, most, woken] = [0, 0, 0];
  const wake = async (each: StoredHandoff): Promise<void> => {
    most = Math.max(most, ++atOnce);
    await Promise.resolve();
    ended(each);
    atOnce--;
    if (++woken === 1_000) done.resolve();
  };
  const timers = new Timers(store, clock, wake, done.reject);
  await timers.start();
  calls.shift()!();
  await done.promise;
  await timers.stop();
  expect(most).toBe(20);
});

test("what fails is tried once a second, even if it is noted as due meanwhile", async () => {
  const { store } = dueAtOnce(1);
  const clock = new StillClock();
  const startedAt = clock.now();
  const triedAt: number[] = [];
  const wake = (): Promise<void> => {
    triedAt.push(clock.now() - startedAt);
    // A commit of unknown outcome is read again afterwards, and is still due.
    setImmediate(() => timers.note(0));
    return Promise.reject(new Error("the disk failed"));
  };
  const timers = new Timers(store, clock, wake, () => undefined);
  await timers.start();
  for (let ms = 0; ms <= 3_000; ms += 100) {
    clock.advance(100);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  await timers.stop();
  expect(triedAt).toEqual([100, 1_100, 2_100, 3_100]);
});

import { expect, test } from "vitest";
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

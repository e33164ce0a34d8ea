import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "./system-clock.ts";

const DAY_MS = 86_400_000;

afterEach(() => vi.useRealTimers());

test("a timer beyond the platform's longest delay fires on time", () => {
  vi.useFakeTimers();
  const fired = vi.fn<() => void>();
  const { now, setTimer } = systemClock();
  setTimer(now() + 60 * DAY_MS, fired);
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect(fired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fired).toHaveBeenCalledOnce();
});

test("a timer that is disarmed before it is due does not fire", () => {
  vi.useFakeTimers();
  const fired = vi.fn<() => void>();
  const { now, setTimer } = systemClock();
  const disarm = setTimer(now() + 60 * DAY_MS, fired);
  vi.advanceTimersByTime(30 * DAY_MS);
  disarm();
  vi.advanceTimersByTime(60 * DAY_MS);
  expect(fired).not.toHaveBeenCalled();
});

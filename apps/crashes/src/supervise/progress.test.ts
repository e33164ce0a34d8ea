import { expect, onTestFinished, test, vi } from "vitest";
import { Progress } from "./progress.ts";

const MINUTE_MS = 60_000;

function progressOnVirtualTime(): Progress {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  return new Progress();
}

test("a run without progress for a minute is given up, and stays so", async () => {
  const progress = progressOnVirtualTime();
  const isThere = progress.until(() => progress.ended >= 2);
  progress.take({ type: "ended", count: 1 });
  vi.advanceTimersByTime(MINUTE_MS);
  expect(await isThere).toBe(false);
  expect(await progress.until(() => progress.isDrained)).toBe(false);
});

test("any progress extends the wait by a minute, and a logged failure does not", async () => {
  const progress = progressOnVirtualTime();
  const isThere = progress.until(() => progress.ended >= 2);
  vi.advanceTimersByTime(MINUTE_MS - 1);
  progress.take({ type: "ended", count: 1 });
  vi.advanceTimersByTime(MINUTE_MS - 1);
  progress.take({ type: "ended", count: 2 });
  expect(await isThere).toBe(true);
  const isFinished = progress.until(() => progress.isFinished);
  vi.advanceTimersByTime(MINUTE_MS - 1);
  progress.take({ type: "failure", message: "It goes on failing." });
  vi.advanceTimersByTime(1);
  expect(await isFinished).toBe(false);
});

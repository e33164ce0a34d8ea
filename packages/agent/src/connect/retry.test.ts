import { WaybillError } from "@waybill/protocol";
import { expect, test, vi } from "vitest";
import { retry } from "./retry.ts";

const never = new AbortController().signal;
const LONG_MS = 60_000;

/** Fails with each of these in turn, and then succeeds. */
function failingWith(...errors: readonly Error[]) {
  const left = [...errors];
  let tries = 0;
  const attempt = async () => {
    tries++;
    const error = left.shift();
    if (error !== undefined) throw error;
    return "done";
  };
  return { attempt, tries: () => tries };
}

test.each([
  ["a hub that can't now", new WaybillError(503, "Later.")],
  ["a hub that is asked too often", new WaybillError(301, "Not so often.")],
])("%s is asked again", async (_, error) => {
  const { attempt, tries } = failingWith(error);
  const waits: unknown[] = [];
  const waiting = (each: unknown) => waits.push(each);
  await expect(retry(attempt, { withinMs: LONG_MS, signal: never, waiting })).resolves.toBe("done");
  expect(tries()).toBe(2);
  expect(waits).toEqual([error]);
});

test.each([400, 401, 403, 404, 409, 410, 500, 504] as const)(
  "a hub that answers %s is not asked again",
  async (status) => {
    const { attempt, tries } = failingWith(new WaybillError(status, "No."));
    const retried = retry(attempt, { withinMs: LONG_MS, signal: never });
    await expect(retried).rejects.toMatchObject({ status });
    expect(tries()).toBe(1);
  },
);

test("what fails for all the time there is fails with its last reason", async () => {
  const { attempt } = failingWith(
    ...Array.from({ length: 50 }, () => new WaybillError(503, "Gone.")),
  );
  await expect(retry(attempt, { withinMs: 150, signal: never })).rejects.toThrow("Gone.");
});

test("a signal ends the waiting at once, with its own reason", async () => {
  const ending = new AbortController();
  const { attempt, tries } = failingWith(new WaybillError(503, "Later."));
  const waiting = () => ending.abort(new Error("enough"));
  const retried = retry(attempt, { withinMs: LONG_MS, signal: ending.signal, waiting });
  await expect(retried).rejects.toThrow("enough");
  expect(tries()).toBe(1);
});

test("a try has until the time is over, and its signal then ends it", async () => {
  const attempt = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () =>
        reject(new WaybillError(503, "Silent.", { cause: signal.reason })),
      );
    });
  await expect(retry(attempt, { withinMs: 50, signal: never })).rejects.toThrow("Silent.");
});

test("a try that its time has ended is the last, even if the clock lags behind the timer", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0);
  let tries = 0;
  const attempt = (signal: AbortSignal) => {
    tries++;
    return new Promise<never>((_, reject) => {
      const end = () => reject(new WaybillError(503, "Silent."));
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    });
  };
  try {
    const waiting = () => now.mockRestore();
    await expect(retry(attempt, { withinMs: 20, signal: never, waiting })).rejects.toThrow(
      "Silent.",
    );
  } finally {
    now.mockRestore();
  }
  expect(tries).toBe(1);
});

import { expect, test } from "vitest";
import { handClock } from "../routing/hand-clock-fixture.ts";
import { Measured } from "./measured.ts";
import { WriteBehindSettings } from "./write-behind-settings.ts";

/** Settings that are read when the test says so, with what was there when they were asked for. */
function slowSettings() {
  const saved = new Map<string, string>();
  const reads: (() => void)[] = [];
  const store = {
    setting(name: string): Promise<string | undefined> {
      const value = saved.get(name);
      return new Promise((resolve) => reads.push(() => resolve(value)));
    },
    async saveSetting(name: string, value: string): Promise<void> {
      saved.set(name, value);
    },
  };
  const failed = (cause: unknown) => expect.fail(String(cause));
  const settings = new WriteBehindSettings(store, handClock(), failed);
  return { saved, reads, settings, measured: new Measured(store, settings) };
}

const SUCCESS = { status: 200, at: 1_000 } as const;

test("a read that ends late does not overwrite what was measured in the meantime", async () => {
  const { reads, measured } = slowSettings();
  const late = measured.of("worker", "work");
  const recorded = measured.record("worker", "work", SUCCESS);
  reads[1]!();
  await recorded;
  reads[0]!();
  expect((await late).successes).toBe(1);
  expect((await measured.of("worker", "work")).successes).toBe(1);
});

test("two outcomes at once are both counted, and saved a moment later", async () => {
  const { saved, reads, settings, measured } = slowSettings();
  const recorded = [1, 2].map(() => measured.record("worker", "work", SUCCESS));
  for (const read of reads) read();
  await Promise.all(recorded);
  expect((await measured.of("worker", "work")).successes).toBe(2);
  expect(saved.size).toBe(0);
  await settings.save();
  expect([...saved.values()].map((text) => JSON.parse(text))).toMatchObject([{ successes: 2 }]);
});

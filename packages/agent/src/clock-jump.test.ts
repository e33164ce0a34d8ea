import { expect, test } from "vitest";
import type { Clock } from "@waybill/protocol/wire";
import { settled, World } from "./world-fixture.ts";
import type { VirtualClock } from "./world-fixture.ts";

/** A clock whose time can be set. Timers that wait for a duration keep it. */
class SetClock implements Clock {
  offsetMs = 0;
  timers = 0;
  clock: VirtualClock | undefined;

  now(): number {
    return this.clock!.now() + this.offsetMs;
  }

  setTimer(at: number, callback: () => void): () => void {
    this.timers++;
    return this.clock!.setTimer(at - this.offsetMs, callback);
  }
}

test("the hub does not poll a handoff whose deadline a clock jump has passed", async () => {
  const clock = new SetClock();
  const world = new World({ clock });
  clock.clock = world.clock;
  await world.up();
  const worker = world.agent("worker", { clock });
  worker.serve("work", () => "done");
  await worker.start();
  await worker.stop();
  const owner = world.agent("owner", { clock });
  const handoff = owner.handoff({ capability: "work", timeoutMs: 20_000 });
  await handoff.custody;
  await settled();

  clock.offsetMs = 30_000;
  const again = world.agent("worker", { clock });
  again.serve("work", () => "done");
  const before = clock.timers;
  await again.start();
  await settled();
  expect(clock.timers - before).toBeLessThan(10);
  await world.clock.advance(20_000);
  await expect(handoff.result).rejects.toMatchObject({ status: 504 });
});

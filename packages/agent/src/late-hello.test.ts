import { WaybillError } from "@waybill/protocol";
import type { AttachRequest, Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { settled, World } from "./world-fixture.ts";

test("a late older hello of an agent does not replace its newer connection", async () => {
  const world = await World.open();
  let late: AttachRequest | undefined;
  const slow: Hub = {
    ...world.hub,
    async attach(request, handler) {
      if (late !== undefined) return world.hub.attach(request, handler);
      late = request;
      throw new WaybillError(503, "The hub does not answer.");
    },
  };
  const worker = world.agent("worker", { hub: slow });
  worker.serve("work", () => "done");
  await expect(worker.start()).rejects.toMatchObject({ status: 503 });
  await world.clock.advance(1_000);
  await worker.start();
  await expect(world.hub.attach(late!, () => undefined)).rejects.toMatchObject({ status: 503 });
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  let output: unknown;
  void handoff.result.then((result) => (output = result.output));
  await settled();
  expect(output).toBe("done");
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("the late hello of a dead process does not replace the current one", async () => {
  const world = await World.open();
  let late: AttachRequest | undefined;
  const dying = world.agent("worker", {
    hub: {
      ...world.hub,
      attach(request) {
        late = request;
        return new Promise<never>(() => undefined);
      },
    },
  });
  dying.serve("work", () => "never");
  void dying.start();
  await settled();
  await world.clock.advance(1_000);
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  await expect(world.hub.attach(late!, () => undefined)).rejects.toMatchObject({ status: 503 });
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  let output: unknown;
  void handoff.result.then((result) => (output = result.output));
  await settled();
  expect(output).toBe("done");
});

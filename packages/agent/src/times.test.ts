import { newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import * as z from "zod";
import { capability } from "./capability/capability.ts";
import { connect } from "./connect/connect.ts";
import { World } from "./world-fixture.ts";

const square = capability({ name: "square", input: z.int(), output: z.int() });

test("a timeout that leaves no time is refused where it is passed", async () => {
  const world = await World.open();
  const owner = world.agent("owner");
  for (const timeoutMs of [0, -1, Number.NaN, Infinity, "60000" as never, null as never]) {
    const refused = expect.objectContaining({
      status: 400,
      at: "/timeoutMs",
      message: expect.stringMatching(
        /^A timeoutMs of .* leaves no time: .*for example 60000/,
      ) as string,
    });
    expect(() => owner.handoff({ capability: "x", timeoutMs })).toThrow(refused);
    expect(() => owner.handoff(square, { input: 2, timeoutMs })).toThrow(refused);
    await expect(owner.handoffAll(square, [2], { timeoutMs })).rejects.toEqual(refused);
    await expect(connect("http://127.0.0.1:1", { timeoutMs })).rejects.toEqual(refused);
  }
  await owner.stop();
});

test("a deadline that is invalid or has passed is refused where it is passed", async () => {
  const world = await World.open();
  const owner = world.agent("owner");
  const now = world.clock.now();
  for (const deadline of [new Date(now), new Date(now - 1), new Date(0)]) {
    expect(() => owner.handoff({ capability: "x", deadline })).toThrow(
      expect.objectContaining({
        status: 400,
        at: "/deadline",
        message: expect.stringContaining(
          `${deadline.toISOString()} has passed (it is ${new Date(now).toISOString()})`,
        ) as string,
      }),
    );
  }
  for (const deadline of [new Date(Number.NaN), "2030-01-01" as never]) {
    expect(() => owner.handoff({ capability: "x", deadline })).toThrow("is not a valid Date");
  }
  await owner.stop();
});

test("a repeated id finds a running handoff even with a deadline that has passed", async () => {
  const world = await World.open();
  const owner = world.agent("owner");
  const deadline = new Date(world.clock.now() + 10_000);
  const options = { capability: "x", to: "nobody", handoffId: newId(), deadline };
  const handoff = owner.handoff(options);
  expect(owner.handoff({ ...options, deadline: new Date(0) })).toBe(handoff);
  await owner.stop();
});

import { newId, WaybillError } from "@waybill/protocol";
import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { capability } from "../capability/capability.ts";
import { settled, World } from "../world-fixture.ts";
import type { HandoffResult } from "./ending.ts";
import type { Settled } from "./fan-out.ts";

const square = capability({ name: "square", input: z.int(), output: z.int() });

/** A worker whose results the test releases one by one, and what it is working on. */
async function squaring(): Promise<{
  readonly world: World;
  readonly underWay: Set<number>;
  readonly stopped: number[];
  finish(...inputs: number[]): Promise<void>;
  fail(input: number): Promise<void>;
}> {
  const world = await World.open();
  const ends = new Map<number, PromiseWithResolvers<number>>();
  const underWay = new Set<number>();
  const stopped: number[] = [];
  const worker = world.agent("worker");
  worker.serve(square, async ({ input, signal }) => {
    signal.addEventListener("abort", () => stopped.push(input));
    const end = Promise.withResolvers<number>();
    ends.set(input, end);
    underWay.add(input);
    return end.promise.finally(() => underWay.delete(input));
  });
  await worker.start();
  return {
    world,
    underWay,
    stopped,
    async finish(...inputs) {
      for (const input of inputs) ends.get(input)!.resolve(input * input);
      await settled();
    },
    async fail(input) {
      ends.get(input)!.reject(new WaybillError(500, `${input} is broken`, { retryable: false }));
      await settled();
    },
  };
}

test("a fan-out keeps a bounded number under way, and returns the results in the order of the inputs", async () => {
  const { world, underWay, finish } = await squaring();
  const owner = world.agent("owner");
  const results = owner.handoffAll(square, [1, 2, 3, 4, 5], { concurrency: 2 });
  expectTypeOf(results).toEqualTypeOf<Promise<HandoffResult<number>[]>>();
  await settled();
  expect([...underWay]).toEqual([1, 2]);
  await finish(2);
  expect([...underWay]).toEqual([1, 3]);
  await finish(3, 1);
  expect([...underWay]).toEqual([4, 5]);
  await finish(5, 4);
  expect((await results).map(({ output }) => output)).toEqual([1, 4, 9, 16, 25]);
  const jobs = (await world.history()).flatMap((entry) =>
    entry.type === "envelope" && entry.envelope.kind === "handoff"
      ? [entry.envelope.correlation_id]
      : [],
  );
  expect(jobs).toHaveLength(5);
  expect(new Set(jobs).size).toBe(1);
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("the first failure cancels the handoffs under way, starts no more, and is thrown", async () => {
  const { world, underWay, stopped, fail, finish } = await squaring();
  const owner = world.agent("owner");
  const results = owner.handoffAll(square, [1, 2, 3, 4], { concurrency: 2 });
  const thrown = results.catch((error: unknown) => error);
  await settled();
  await finish(1);
  await fail(3);
  expect(await thrown).toMatchObject({ status: 500, message: "3 is broken" });
  expect(stopped).toEqual([2]);
  expect([...underWay]).toEqual([2]);
  expect(await world.check(false)).toMatchObject({ holds: true, violations: [] });
});

test("a settled fan-out reports how each handoff ended", async () => {
  const { world, fail, finish } = await squaring();
  const owner = world.agent("owner");
  const ids = [newId(), newId(), newId()];
  const endings = owner.handoffAll(square, [1, 2, 0.5], {
    settled: true,
    handoffId: (_, index) => ids[index]!,
  });
  expectTypeOf(endings).toEqualTypeOf<Promise<Settled<number>[]>>();
  await settled();
  await fail(1);
  await finish(2);
  expect(await endings).toMatchObject([
    { status: "rejected", handoffId: ids[0], reason: { status: 500 } },
    { status: "fulfilled", handoffId: ids[1], value: { output: 4, by: "worker" } },
    { status: "rejected", handoffId: ids[2], reason: { status: 422 } },
  ]);
});

test("each handoff of a fan-out can be observed", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  const sign = capability({
    name: "sign",
    input: z.string(),
    output: z.string(),
    questions: { name: z.string().min(1) },
  });
  worker.serve(sign, async ({ input, ask }) => `${input}, ${await ask("name")}`);
  await worker.start();
  const owner = world.agent("owner");
  const answering: Promise<void>[] = [];
  const results = await owner.handoffAll(sign, ["a", "b"], {
    onHandoff(handoff, index) {
      answering.push(
        (async () => {
          for await (const { name } of handoff.questions) {
            if (name === "name") await handoff.answer(name, `no ${index}`);
          }
        })(),
      );
    },
  });
  expect(results.map(({ output }) => output)).toEqual(["a, no 0", "b, no 1"]);
  await Promise.all(answering);
});

test("a signal cancels the whole fan-out", async () => {
  const { world, stopped } = await squaring();
  const owner = world.agent("owner");
  const controller = new AbortController();
  const { signal } = controller;
  const results = owner.handoffAll(square, [1, 2, 3], { concurrency: 2, signal });
  const thrown = results.catch((error: unknown) => error);
  await settled();
  controller.abort(new Error("enough"));
  expect(await thrown).toMatchObject({ status: 499, message: "enough" });
  await settled();
  expect(stopped.toSorted((a, b) => a - b)).toEqual([1, 2]);
});

test("a group by a declared capability is joined by its rule", async () => {
  const { world, stopped, finish } = await squaring();
  const owner = world.agent("owner");
  const group = owner.handoffAll(square, [1, 2], { join: "any" });
  await Promise.all(group.handles.map(({ accepted }) => accepted));
  await finish(2);
  const { results } = await group.result;
  expectTypeOf(results).toEqualTypeOf<readonly (HandoffResult<number> | undefined)[]>();
  expect(results.map((each) => each?.output)).toEqual([undefined, 4]);
  expect(stopped).toEqual([1]);
});

test("running work can fan out its children in the same ways", async () => {
  const { world, finish } = await squaring();
  const chief = world.agent("chief");
  const sum = capability({ name: "sum_of_squares", input: z.array(z.int()), output: z.int() });
  chief.serve(sum, async ({ input, handoffAll, handoff }) => {
    const squares = await handoffAll(square, input, { concurrency: 2 });
    const { output } = await handoff(square, { input: 9 }).result;
    return squares.reduce((total, each) => total + each.output, output);
  });
  await chief.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff(sum, { input: [2, 3] });
  await handoff.accepted;
  await settled();
  await finish(2, 3);
  await finish(9);
  expect((await handoff.result).output).toBe(94);
  expect(await world.check(false)).toMatchObject({ holds: true, violations: [] });
  const parents = (await world.history()).flatMap((entry) =>
    entry.type === "envelope" && entry.envelope.kind === "handoff"
      ? [entry.envelope.parent_id]
      : [],
  );
  expect(parents).toEqual([undefined, handoff.id, handoff.id, handoff.id]);
});

test("a concurrency below one is refused", async () => {
  const world = await World.open();
  const owner = world.agent("owner");
  for (const concurrency of [0, -1, Number.NaN]) {
    const results = owner.handoffAll(square, [1], { concurrency });
    await expect(results).rejects.toMatchObject({ status: 400 });
  }
  expect(await owner.handoffAll(square, [])).toEqual([]);
  expect(await owner.handoffAll(square, [], { settled: true })).toEqual([]);
  const isSettled = Boolean(1);
  // @ts-expect-error whether results or endings come back has to be known where it is written
  const given: unknown = owner.handoffAll(square, [], { settled: isSettled });
  expect(await given).toEqual([]);
});

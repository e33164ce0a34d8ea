import { WaybillError } from "@waybill/protocol";
import type { Contract } from "@waybill/protocol";
import { expect, test } from "vitest";
import { counterOf } from "./delegating/counter.ts";
import type { HandoffOptions } from "./delegating/options.ts";
import { settled, World } from "./world-fixture.ts";

const NEEDS: Contract = { timeout_seconds: 60, lease_seconds: 30, max_attempts: 2 };
const WORK = {
  to: "worker",
  capability: "work",
  contract: { timeout_seconds: 20, max_attempts: 3 },
} satisfies HandoffOptions;

/** A recipient that needs a minute, and records the terms under which it worked. */
async function open(): Promise<{ world: World; bound: (Contract | undefined)[] }> {
  const world = await World.open();
  const bound: (Contract | undefined)[] = [];
  const worker = world.agent("worker");
  worker.serve({ name: "work", ...NEEDS }, async (work) => {
    bound.push(work.body.contract);
    const answer = await work.ask({ id: "which", text: "Which?" });
    await work.progress({ message: "on it" });
    return answer;
  });
  await worker.start();
  return { world, bound };
}

async function holds(world: World): Promise<void> {
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

async function handoffsOf(world: World): Promise<string[]> {
  return (await world.history()).flatMap((entry) =>
    entry.type === "envelope" && entry.envelope.kind === "handoff"
      ? [entry.envelope.handoff_id]
      : [],
  );
}

test("a counter-offer arrives with the 406, and nothing is handed off for it by default", async () => {
  const { world, bound } = await open();
  const handoff = world.agent("owner").handoff(WORK);
  const error: unknown = await handoff.result.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ status: 406 });
  expect(counterOf(error)).toMatchObject({
    by: "worker",
    contract: NEEDS,
    reason: expect.stringContaining("timeout_seconds: 20") as string,
  });
  expect(counterOf(new WaybillError(406, "no"))).toBeUndefined();
  expect(counterOf(new Error("no"))).toBeUndefined();
  await settled();
  expect(await handoffsOf(world)).toEqual([handoff.id]);
  expect(bound).toEqual([]);
  await holds(world);
});

test.each<[string, HandoffOptions["acceptCounter"]]>([
  ["a tolerance that covers it", { timeout_seconds: 120, max_attempts: 1 }],
  ["a function that says yes", async ({ contract }) => contract.timeout_seconds === 60],
])(
  "%s accepts the counter-offer, and the handle continues with it",
  async (_what, acceptCounter) => {
    const { world, bound } = await open();
    const owner = world.agent("owner");
    const handoff = owner.handoff({ ...WORK, acceptCounter });
    const first = handoff.id;
    for await (const question of handoff.questions) await handoff.answer(question.id, "this");
    expect(await handoff.result).toMatchObject({ output: "this" });
    const messages: unknown[] = [];
    for await (const { message } of handoff.progress) messages.push(message);
    expect(messages).toEqual(["on it"]);
    expect(bound).toMatchObject([NEEDS]);
    expect(handoff.id).not.toBe(first);
    expect(handoff.envelope).toMatchObject({ replay_of: first, body: { contract: NEEDS } });
    await settled();
    expect(await handoffsOf(world)).toEqual([first, handoff.id]);
    for (const id of [first, handoff.id]) {
      expect(await world.hub.handoff(id, "owner")).toMatchObject({ isAcknowledged: true });
    }
    await holds(world);
  },
);

test.each<[string, HandoffOptions["acceptCounter"]]>([
  ["a tolerance that is too small", { timeout_seconds: 59 }],
  ["a function that says no", () => false],
])("%s declines the counter-offer, and the 406 stays", async (_what, acceptCounter) => {
  const { world, bound } = await open();
  const handoff = world.agent("owner").handoff({ ...WORK, acceptCounter });
  const error: unknown = await handoff.result.catch((reason: unknown) => reason);
  expect(counterOf(error)).toMatchObject({ contract: NEEDS });
  expect(bound).toEqual([]);
  expect(await handoffsOf(world)).toEqual([handoff.id]);
  await holds(world);
});

test("an error that the rule throws is the error of the handoff", async () => {
  const { world } = await open();
  const acceptCounter = () => {
    throw new TypeError("broken rule");
  };
  const handoff = world.agent("owner").handoff({ ...WORK, acceptCounter });
  await expect(handoff.result).rejects.toMatchObject({ message: "broken rule" });
});

test("35: a flood of negotiation ends after one counter-offer", async () => {
  const { world, bound } = await open();
  const owner = world.agent("owner");
  const first = owner.handoff(WORK);
  const error: unknown = await first.result.catch((reason: unknown) => reason);
  expect(counterOf(error)).toBeDefined();
  const again = owner.handoff({
    ...WORK,
    contract: { timeout_seconds: 30 },
    replayOf: first.id,
    acceptCounter: () => true,
  });
  const second: unknown = await again.result.catch((reason: unknown) => reason);
  expect(second).toMatchObject({
    status: 406,
    message: expect.stringContaining("there is only one") as string,
  });
  expect(counterOf(second)).toBeUndefined();
  expect(bound).toEqual([]);
  await holds(world);
});

test("work whose terms every candidate declines is a dead letter after one offer to each", async () => {
  const world = await World.open();
  for (const id of ["anna", "bert"]) {
    const worker = world.agent(id);
    worker.serve({ name: "work", ...NEEDS }, () => "done");
    await worker.start();
  }
  const owner = world.agent("owner");
  const strict = { capability: "work", contract: { lease_seconds: 5 }, timeoutMs: 600_000 };
  const handoff = owner.handoff(strict);
  await handoff.custody;
  await world.clock.advance(60_000);
  await expect(handoff.result).rejects.toMatchObject({ status: 406 });
  const view = await world.hub.handoff(handoff.id, "owner");
  expect(view).toMatchObject({ state: "dead_lettered", status: 406 });
  expect(view!.attempts).toHaveLength(2);
  expect(view!.attempts).toEqual(
    expect.arrayContaining(
      ["anna", "bert"].map((recipient) =>
        expect.objectContaining({ recipient, closed: "rejected", status: 406 }),
      ),
    ),
  );
  // Nobody judged the work itself: on other terms it is done.
  const again = owner.handoff({
    capability: "work",
    replayOf: handoff.id,
    correlationId: handoff.envelope.correlation_id,
    timeoutMs: 600_000,
  });
  expect(await again.result).toMatchObject({ output: "done" });
  await holds(world);
});

test("a member of a group that would accept a counter-offer is refused at once", async () => {
  const { world } = await open();
  const owner = world.agent("owner");
  const member = { ...WORK, acceptCounter: () => true };
  expect(() => owner.handoffAll([member], { join: "all" })).toThrow(
    expect.objectContaining({ status: 400, at: "/group" }) as Error,
  );
});

test.each(["before it has decided", "after it has handed off again"])(
  "a delegator that is killed %s finds the same handoff again",
  async (when) => {
    const { world, bound } = await open();
    const isBefore = when === "before it has decided";
    const counters: unknown[] = [];
    const owner = world.agent("owner");
    const never = new Promise<never>(() => undefined);
    const first = owner.handoff({
      ...WORK,
      acceptCounter: (counter) => {
        counters.push(counter);
        return isBefore ? never : true;
      },
    });
    const { id } = first;
    await (isBefore ? settled() : first.accepted);
    expect(counters).toHaveLength(1);
    await owner.stop({ mode: "abandon" });

    const next = world.agent("owner");
    const found = await next.attach(id, { acceptCounter: () => true });
    await settled();
    for await (const question of found.questions) await found.answer(question.id, "that");
    expect(await found.result).toMatchObject({ output: "that" });
    if (!isBefore) expect(found.id).toBe(first.id);
    expect(bound).toHaveLength(1);
    expect(await handoffsOf(world)).toEqual([id, found.id]);
    await holds(world);
  },
);

test("a handoff can be cancelled while its counter-offer is considered", async () => {
  const { world, bound } = await open();
  let decide = (_isTaken: boolean): void => undefined;
  const handoff = world.agent("owner").handoff({
    ...WORK,
    acceptCounter: () => new Promise<boolean>((resolve) => (decide = resolve)),
  });
  await handoff.custody;
  await settled();
  const cancelled = handoff.cancel("Changed my mind.");
  decide(true);
  expect(await cancelled).toBe(true);
  await expect(handoff.result).rejects.toMatchObject({ status: 499 });
  expect(bound.length).toBeLessThanOrEqual(1);
  await holds(world);
});

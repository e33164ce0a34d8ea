import { newId, newSalt, signEnvelope, createHandoff, WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import { interceptCommits, settled, World } from "./world-fixture.ts";
import type { Handler } from "./serving/work.ts";

const LEASE = { lease_seconds: 30 };
const never = () => new Promise<never>(() => undefined);

async function holds(world: World): Promise<void> {
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

test("ten children go to ten agents and return unmixed, in one job and one trace", async () => {
  const world = await World.open();
  const numbers = Array.from({ length: 10 }, (_, index) => index);
  for (const index of numbers) {
    const worker = world.agent(`worker-${index}`);
    worker.serve<{ part: number }>("square", ({ input }) => ({
      part: input.part,
      by: index,
      square: input.part ** 2,
    }));
    await worker.start();
  }
  const lead = world.agent("lead");
  lead.serve("sum", async (work) => {
    const parts = numbers.map((part) =>
      work.handoff({ to: `worker-${part}`, capability: "square", input: { part } }),
    );
    const results = await Promise.all(parts.map((part) => part.result));
    return results.map(({ output }) => output!);
  });
  await lead.start();
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const job = world
    .agent("owner")
    .handoff({ to: "lead", capability: "sum", traceparent, input: 1 });
  const { output } = await job.result;
  expect(output).toEqual(numbers.map((part) => ({ part, by: part, square: part ** 2 })));
  await settled();
  const handoffs = (await world.history()).flatMap((entry) =>
    entry.type === "envelope" && entry.envelope.kind === "handoff" ? [entry.envelope] : [],
  );
  expect(handoffs).toHaveLength(11);
  expect(new Set(handoffs.map((each) => each.correlation_id)).size).toBe(1);
  expect(new Set(handoffs.map((each) => each.traceparent?.slice(3, 35)))).toEqual(
    new Set(["a".repeat(32)]),
  );
  expect(handoffs.filter((each) => each.parent_id === job.id)).toHaveLength(10);
  await holds(world);
});

test("an agent that goes silent loses its work to another, and its late result is 410 and on record", async () => {
  const world = await World.open();
  const capability = { name: "research", ...LEASE };
  const slow = world.agent("slow");
  slow.serve({ ...capability, reliability_sla: 1 }, never);
  await slow.start();
  const good = world.agent("good");
  good.serve(capability, () => "done");
  const handoff = world.agent("owner").handoff({ capability: "research", input: 1 });
  expect(await handoff.accepted).toMatchObject({ by: "slow", attempt: 1 });
  await slow.stop({ mode: "abandon" });
  await good.start();
  await world.clock.advance(32_000);
  expect(await handoff.result).toMatchObject({ by: "good", attempt: 2, output: "done" });
  const late = signEnvelope(
    {
      waybill: 1,
      kind: "result",
      id: newId(),
      from: "slow",
      to: "owner",
      handoff_id: handoff.id,
      correlation_id: handoff.envelope.correlation_id,
      issued_at: new Date(world.clock.now()).toISOString(),
      salt: newSalt(),
      attempt: 1,
      re: handoff.digest,
      body: { status: 200, output: "too late" },
    },
    world.key("slow"),
  );
  await expect(world.hub.submit(late)).rejects.toMatchObject({ status: 410 });
  // The same envelope again gets the same answer, and is on record once.
  await expect(world.hub.submit(late)).rejects.toMatchObject({ status: 410 });
  await settled();
  const kinds = await world.kinds(handoff.id);
  expect(kinds.slice(0, 5)).toEqual(["handoff", "offer", "receipt 101", "lease_lost", "offer"]);
  expect(kinds.filter((kind) => kind === "result 200")).toHaveLength(2);
  await holds(world);
});

test("a handoff that expires is a dead letter, and can be replayed", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve({ name: "research", ...LEASE }, ({ body }) => body.input!);
  await worker.start();
  await worker.stop();
  const owner = world.agent("owner");
  const handoff = owner.handoff({
    to: "worker",
    capability: "research",
    input: 7,
    timeoutMs: 60_000,
  });
  await handoff.custody;
  await world.clock.advance(59_000);
  expect(await world.server.deadLetters.list({ limit: 10 })).toEqual([]);
  await world.clock.advance(2_000);
  await expect(handoff.result).rejects.toMatchObject({ status: 504 });
  const [letter] = await world.server.deadLetters.list({ limit: 10 });
  expect(letter).toMatchObject({ id: handoff.id, status: 504, attempts: 0, delegator: "owner" });
  expect(letter!.reason).toContain("worker is not connected");
  const detail = await world.server.deadLetters.show(handoff.id);
  expect(detail.handoff.envelope).toBe(handoff.text);

  const again = world.agent("worker");
  again.serve({ name: "research", ...LEASE }, ({ body }) => body.input!);
  await again.start();
  const replay = createHandoff(
    {
      from: "owner",
      domain: world.hub.domain,
      to: "worker",
      body: handoff.envelope.body,
      timeoutMs: 60_000,
      replayOf: handoff.id,
    },
    { now: () => world.clock.now(), newId: () => newId() },
  );
  await world.server.deadLetters.replay(handoff.id, signEnvelope(replay, world.key("owner")));
  const found = await owner.attach(replay.handoff_id);
  expect(await found.result).toMatchObject({ output: 7 });
  expect(await world.server.deadLetters.list({ limit: 10 })).toEqual([]);
  await settled();
  await holds(world);
});

test("a dead letter is delivered to the dead-letter agent, and can be discarded", async () => {
  const world = await World.open({ deadLetterAgent: "undertaker" });
  const letters: unknown[] = [];
  const undertaker = world.agent("undertaker");
  undertaker.serve("dead_letter", ({ input }) => {
    letters.push(input);
    return "buried";
  });
  await undertaker.start();
  const worker = world.agent("worker");
  worker.serve("research", never);
  await worker.start();
  await worker.stop();
  const handoff = world
    .agent("owner")
    .handoff({ to: "worker", capability: "research", timeoutMs: 5_000 });
  await handoff.custody;
  await world.clock.advance(5_000);
  await expect(handoff.result).rejects.toMatchObject({ status: 504 });
  await settled();
  expect(letters).toEqual([
    expect.objectContaining({ handoff_id: handoff.id, status: 504, envelope: handoff.text }),
  ]);
  await world.server.deadLetters.discard(handoff.id, { reason: "buried" });
  expect(await world.server.deadLetters.list({ limit: 10 })).toEqual([]);
  await holds(world);
});

test("cancelling a handoff cancels its children and grandchildren, and stops their work", async () => {
  const world = await World.open();
  const stopped: string[] = [];
  const waiting: string[] = [];
  const chain = ["first", "second", "third"];
  for (const [index, id] of chain.entries()) {
    const agent = world.agent(id);
    agent.serve("part", async (work) => {
      work.signal.addEventListener("abort", () => stopped.push(id));
      waiting.push(id);
      const next = chain[index + 1];
      if (next === undefined) return never();
      return (await work.handoff({ to: next, capability: "part" }).result).output!;
    });
    await agent.start();
  }
  const handoff = world.agent("owner").handoff({ to: "first", capability: "part" });
  await handoff.accepted;
  await settled();
  expect(waiting).toEqual(chain);
  expect(await handoff.cancel("not needed")).toBe(true);
  await expect(handoff.result).rejects.toMatchObject({ status: 499 });
  await settled();
  expect(stopped.toSorted()).toEqual(chain);
  await holds(world);
});

test("a question is answered while the attempt waits, for any length of time", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve({ name: "book", ...LEASE }, async (work) => ["to", await work.ask("Where to?")]);
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "book" });
  for await (const question of handoff.questions) {
    expect(question).toMatchObject({ text: "Where to?", by: "worker", isPaused: false });
    await world.clock.advance(200_000);
    await handoff.answer(question.id, "Rome");
    await expect(handoff.answer(question.id, "Oslo")).rejects.toMatchObject({ status: 410 });
  }
  expect(await handoff.result).toMatchObject({ output: ["to", "Rome"] });
  await settled();
  await holds(world);
});

test("a paused attempt survives a restart of its agent and of the hub", async () => {
  const world = await World.open();
  const serve = () => {
    const worker = world.agent("worker");
    worker.serve("book", ({ resume, pause, attempt }) => {
      if (resume === undefined) return pause({ id: "ok", text: "Book it?" }, "half done");
      return { attempt, from: resume.state, answer: resume.answers.get("ok")! };
    });
    return worker;
  };
  const first = serve();
  await first.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "book" });
  for await (const question of handoff.questions) {
    expect(question).toMatchObject({ id: "ok", isPaused: true });
    break;
  }
  await first.stop({ mode: "abandon" });
  await owner.stop({ mode: "abandon" });
  await world.down();
  await world.up();
  const second = serve();
  await second.start();
  const found = await world.agent("owner").attach(handoff.id);
  for await (const question of found.questions) await found.answer(question.id, "yes");
  expect(await found.result).toMatchObject({
    output: { attempt: 2, from: "half done", answer: "yes" },
  });
  await settled();
  await holds(world);
});

test("a result is delivered again until the delegator has acknowledged it", async () => {
  const world = await World.open();
  let runs = 0;
  const worker = world.agent("worker");
  worker.serve("work", () => ++runs);
  await worker.start();
  const before = world.agent("owner");
  const handoff = before.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  expect(await handoff.result).toMatchObject({ output: 1 });
  await before.stop({ mode: "abandon" });
  for (const isLast of [false, true]) {
    const after = world.agent("owner");
    const found = await after.attach(handoff.id, { acknowledge: "manual" });
    expect(await found.result).toMatchObject({ output: 1 });
    expect(await world.store.inbox("owner", { limit: 10 })).toHaveLength(1);
    if (isLast) await found.acknowledge();
    await after.stop({ mode: "abandon" });
  }
  expect(await world.store.inbox("owner", { limit: 10 })).toEqual([]);
  expect(runs).toBe(1);
  await holds(world);
});

test("an attempt that its restarted process does not know is interrupted and retried", async () => {
  const world = await World.open();
  const first = world.agent("worker");
  first.serve("work", never);
  await first.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  await first.stop({ mode: "abandon" });
  const second = world.agent("worker");
  second.serve("work", ({ attempt }) => attempt);
  await second.start();
  await world.clock.advance(5_000);
  expect(await handoff.result).toMatchObject({ output: 2 });
  expect(await world.kinds(handoff.id)).toContain("result 501");
  await settled();
  await holds(world);
});

test("work continues across a restart of the hub, and is not done twice", async () => {
  const world = await World.open();
  let runs = 0;
  let finish: (value: string) => void = () => undefined;
  const worker = world.agent("worker");
  worker.serve({ name: "work", ...LEASE }, () => {
    runs++;
    return new Promise<string>((resolve) => (finish = resolve));
  });
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  await world.down();
  finish("done meanwhile");
  await world.clock.advance(10_000);
  await world.up();
  await world.clock.advance(10_000);
  expect(await handoff.result).toMatchObject({ output: "done meanwhile", attempt: 1 });
  expect(runs).toBe(1);
  await settled();
  await holds(world);
});

test("heartbeats keep a lease for as long as the work takes", async () => {
  const world = await World.open();
  let finish: (value: string) => void = () => undefined;
  const worker = world.agent("worker");
  worker.serve(
    { name: "work", ...LEASE },
    () => new Promise<string>((resolve) => (finish = resolve)),
  );
  await worker.start();
  const handoff = world
    .agent("owner")
    .handoff({ to: "worker", capability: "work", timeoutMs: 3_600_000 });
  await handoff.accepted;
  await world.clock.advance(600_000);
  finish("at last");
  expect(await handoff.result).toMatchObject({ output: "at last", attempt: 1 });
  await settled();
  await holds(world);
});

test("a duplicate is answered 201, and its work is done once", async () => {
  const world = await World.open();
  let runs = 0;
  const worker = world.agent("worker");
  worker.serve("work", async ({ progress }) => {
    await progress({ fraction: 0.5 });
    return ++runs;
  });
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.result;
  await settled();
  const envelopes = (await world.store.ledger({ limit: 100 })).filter(
    ({ type, handoffId, replayKey }) =>
      type === "envelope" && handoffId === handoff.id && replayKey?.from !== "hub",
  );
  expect(envelopes.length).toBeGreaterThanOrEqual(5);
  const given = new Map<string, string>();
  for (const isRestarted of [false, true]) {
    if (isRestarted) {
      await world.down();
      await world.up();
    }
    for (const { content } of envelopes) {
      const receipt = await world.hub.submit(content);
      expect(given.get(content) ?? receipt).toBe(receipt);
      given.set(content, receipt);
      expect(JSON.parse(Buffer.from(receipt.split(".")[1]!, "base64url").toString())).toMatchObject(
        {
          kind: "receipt",
          from: "hub",
          body: { status: 201 },
        },
      );
    }
  }
  expect(runs).toBe(1);
  await holds(world);
});

test("every receipt of the hub is on record, in the commit of what it confirms", async () => {
  const world = new World();
  const commits: string[][] = [];
  interceptCommits(world.store, (commit, make) => {
    commits.push(commit.entries.map(({ content }) => content));
    return make(commit);
  });
  await world.up();
  const receipts = new Map<string, string>();
  const hub = {
    ...world.hub,
    id: "hub",
    submit: async (envelope: string) => {
      const receipt = await world.hub.submit(envelope);
      receipts.set(envelope, receipt);
      return receipt;
    },
  };
  const worker = world.agent("worker", { hub });
  worker.serve("work", async ({ progress, ask }) => {
    await progress({ message: "at it" });
    return ask({ id: "q", text: "Which?" });
  });
  await worker.start();
  const owner = world.agent("owner", { hub });
  const handoff = owner.handoff({ to: "worker", capability: "work" });
  for await (const question of handoff.questions) await handoff.answer(question.id, "this");
  await handoff.result;
  await handoff.acknowledge();
  await settled();
  expect(receipts.size).toBeGreaterThanOrEqual(7);
  for (const [envelope, receipt] of receipts) {
    expect(
      commits.filter((each) => each.includes(envelope) && each.includes(receipt)),
    ).toHaveLength(1);
  }
  const cancelled = owner.handoff({ to: "worker", capability: "work" });
  await cancelled.custody;
  await cancelled.cancel();
  await settled();
  await holds(world);
});

test("errors keep their status, message and cause; an empty success is an error", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("fail", () => {
    throw new Error("the disk is full", { cause: new TypeError("inner") });
  });
  worker.serve("refuse", () => {
    throw new WaybillError(424, "a part failed");
  });
  worker.serve("nothing", (() => undefined) as unknown as Handler);
  worker.serve({ name: "typed", input_schema: { n: "int" }, output_schema: { n: "int" } }, () => ({
    n: "no number",
  }));
  await worker.start();
  const owner = world.agent("owner");
  const to = { to: "worker" };
  const failed = owner.handoff({ ...to, capability: "fail" });
  await expect(failed.result).rejects.toMatchObject({
    status: 500,
    message: "the disk is full",
    cause: { name: "Error", cause: { name: "TypeError", message: "inner" } },
  });
  await expect(owner.handoff({ ...to, capability: "refuse" }).result).rejects.toMatchObject({
    status: 424,
  });
  const empty = owner.handoff({ ...to, capability: "nothing" });
  const wrong = owner.handoff({ ...to, capability: "typed", input: { n: 1 } });
  await Promise.all([empty.custody, wrong.custody]);
  await world.clock.advance(5_000);
  await expect(empty.result).rejects.toMatchObject({ status: 520 });
  await expect(wrong.result).rejects.toMatchObject({ status: 520 });
  await expect(
    owner.handoff({ ...to, capability: "typed", input: { n: "x" } }).result,
  ).rejects.toMatchObject({ status: 422 });
  await expect(owner.handoff({ ...to, capability: "unheard" }).result).rejects.toMatchObject({
    status: 404,
  });
  await expect(owner.handoff({ capability: "unheard" }).result).rejects.toMatchObject({
    status: 404,
  });
  await settled();
  await holds(world);
});

test("a group that needs any one result cancels the rest; a failed group says why", async () => {
  const world = await World.open();
  const fast = world.agent("fast");
  fast.serve("race", () => "first");
  const slow = world.agent("slow");
  const aborted: number[] = [];
  slow.serve("race", ({ signal, attempt }) => {
    signal.addEventListener("abort", () => aborted.push(attempt));
    return never();
  });
  const bad = world.agent("bad");
  bad.serve("race", () => {
    throw new Error("broken");
  });
  await Promise.all([fast.start(), slow.start(), bad.start()]);
  const owner = world.agent("owner");
  const to = (id: string) => ({ to: id, capability: "race" });
  const any = owner.handoffAll([to("slow"), to("fast"), to("bad")], { join: "any" });
  const { results } = await any.result;
  expect(results[1]).toMatchObject({ output: "first" });
  expect(results[0]).toBeUndefined();
  const all = owner.handoffAll([to("slow"), to("bad")], { join: "all" });
  await expect(all.result).rejects.toMatchObject({ message: "broken" });
  await settled();
  expect(aborted).toEqual([1, 1]);
  await holds(world);
});

test("a stopping agent finishes its work, or returns it at once", async () => {
  const world = await World.open();
  const finishes: ((value: string) => void)[] = [];
  const serve = () => {
    const worker = world.agent("worker");
    worker.serve("work", () => new Promise<string>((resolve) => finishes.push(resolve)));
    return worker;
  };
  const first = serve();
  await first.start();
  const owner = world.agent("owner");
  const finished = owner.handoff({ to: "worker", capability: "work" });
  await finished.accepted;
  const stopping = first.stop();
  finishes[0]!("finished");
  await stopping;
  expect(await finished.result).toMatchObject({ output: "finished" });
  const second = serve();
  await second.start();
  const released = owner.handoff({ to: "worker", capability: "work" });
  await released.accepted;
  await second.stop({ mode: "release" });
  const third = serve();
  await third.start();
  await world.clock.advance(5_000);
  finishes.at(-1)!("by the next");
  expect(await released.result).toMatchObject({ output: "by the next", attempt: 2 });
  expect(await world.kinds(released.id)).toContain("receipt 300");
  await settled();
  await holds(world);
});

test("credit bounds what an agent works on at once; the rest waits", async () => {
  const world = await World.open();
  let running = 0;
  let most = 0;
  const worker = world.agent("worker", { credit: 3 });
  worker.serve("work", async ({ input }) => {
    most = Math.max(most, ++running);
    await settled();
    running--;
    return input;
  });
  await worker.start();
  const owner = world.agent("owner");
  const handoffs = Array.from({ length: 12 }, (_, input) =>
    owner.handoff({ capability: "work", input }),
  );
  const results = await Promise.all(handoffs.map((handoff) => handoff.result));
  expect(results.map(({ output }) => output)).toEqual(Array.from({ length: 12 }, (_, n) => n));
  expect(most).toBe(3);
  await settled();
  await holds(world);
});

test("the concurrency of a capability bounds only that capability", async () => {
  const world = await World.open();
  const running = { narrow: 0, wide: 0 };
  const most = { narrow: 0, wide: 0 };
  const waiting: (() => void)[] = [];
  const serve = () => {
    const worker = world.agent("worker", { credit: 10 });
    const handle = (name: "narrow" | "wide") => async () => {
      most[name] = Math.max(most[name], ++running[name]);
      await new Promise<void>((resolve) => waiting.push(resolve));
      running[name]--;
      return name;
    };
    worker.serve({ name: "narrow", concurrency: 2 }, handle("narrow"));
    worker.serve("wide", handle("wide"));
    return worker;
  };
  await serve().start();
  const owner = world.agent("owner");
  const named = (capability: string) => owner.handoff({ to: "worker", capability });
  const handoffs = [
    ...Array.from({ length: 3 }, () => named("narrow")),
    ...Array.from({ length: 3 }, () => owner.handoff({ capability: "narrow" })),
    ...Array.from({ length: 3 }, () => named("wide")),
    ...Array.from({ length: 3 }, () => owner.handoff({ capability: "wide" })),
  ];
  const results = Promise.all(handoffs.map((each) => each.result));
  await settled();
  expect(running).toEqual({ narrow: 2, wide: 6 });
  // After a restart the hub counts what the agent still works on.
  await world.down();
  await world.up();
  await world.clock.advance(1_000);
  expect(running).toEqual({ narrow: 2, wide: 6 });
  for (let turn = 0; turn < 6; turn++) {
    for (const done of waiting.splice(0)) done();
    await settled();
  }
  expect((await results).map(({ output }) => output)).toEqual([
    ...Array(6).fill("narrow"),
    ...Array(6).fill("wide"),
  ]);
  expect(most.narrow).toBe(2);
  await settled();
  await holds(world);
});

test("a repeated handoff id finds the same handoff; for other work it is 409", async () => {
  const world = await World.open();
  let runs = 0;
  const worker = world.agent("worker");
  worker.serve("work", async ({ input, ask }) => {
    runs++;
    return [input, await ask({ id: "q", text: "Which?" })];
  });
  await worker.start();
  const first = world.agent("owner");
  const handoffId = newId();
  const options = {
    to: "worker",
    capability: "work",
    input: { a: 1, b: 2 },
    handoffId,
    acknowledge: "manual" as const,
  };
  const other = { ...options, input: { a: 1 } };
  const handoff = first.handoff(options);
  expect(first.handoff(options)).toBe(handoff);
  expect(() => first.handoff(other)).toThrow(expect.objectContaining({ status: 409 }));
  await handoff.accepted;
  await first.stop({ mode: "abandon" });

  const second = world.agent("owner");
  await expect(second.handoff(other).result).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("different work") as string,
  });
  const again = second.handoff({ ...options, input: { b: 2, a: 1 } });
  expect(await again.custody).toMatchObject({ by: "hub" });
  expect(again.text).toBe(handoff.text);
  expect(again.envelope).toEqual(handoff.envelope);
  for await (const question of again.questions) await again.answer(question.id, "this");
  expect(await again.result).toMatchObject({ output: [{ a: 1, b: 2 }, "this"] });
  await second.stop({ mode: "abandon" });

  const third = world.agent("owner");
  const ended = third.handoff(options);
  expect(await ended.result).toMatchObject({ output: [{ a: 1, b: 2 }, "this"], attempt: 1 });
  await ended.acknowledge();
  expect(await third.handoff(options).result).toMatchObject({ attempt: 1 });
  const stranger = world.agent("stranger").handoff(options);
  await expect(stranger.result).rejects.toMatchObject({ status: 403 });
  expect(runs).toBe(1);
  await settled();
  await holds(world);
});

test("a handoff that is repeated while the first copy is being sent is the same handoff", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  let finish: () => void;
  const mayFinish = new Promise<void>((resolve) => (finish = resolve));
  worker.serve("work", async ({ input }) => {
    await mayFinish;
    return input;
  });
  await worker.start();
  const options = { to: "worker", capability: "work", input: 1, handoffId: newId() };
  const handOff = () => world.agent("owner").handoff(options);
  const first = handOff();
  await first.custody;
  const second = handOff();
  await second.custody;
  expect(second.text).toBe(first.text);
  finish!();
  // An agent is attached once: the result reaches the connection that attached last.
  expect(await Promise.any([first.result, second.result])).toMatchObject({ output: 1 });
  await settled();
  await holds(world);
});

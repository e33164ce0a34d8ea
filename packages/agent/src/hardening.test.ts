import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  newId,
  signCompact,
  signEnvelope,
  signManifest,
  stringifyJson,
  WaybillError,
} from "@waybill/protocol";
import type { Digest, Envelope, HandoffEnvelope } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { HandoffHandle } from "./delegating/handoff-handle.ts";
import { listen, settled, World } from "./world-fixture.ts";

const never = () => new Promise<never>(() => undefined);

/** A world with a recipient that works endlessly, a handoff it has accepted, and a stranger. */
async function underWay(): Promise<{ world: World; handoff: HandoffHandle; source: Source }> {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", never);
  worker.serve("ask", async (work) => work.ask({ id: "q", text: "Which?" }));
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  await world.agent("stranger").start();
  return { world, handoff, source: { now: () => world.clock.now(), newId: () => newId() } };
}

type Source = { now: () => number; newId: () => string };

async function answerTo(world: World, envelope: Envelope): Promise<number> {
  const text = signEnvelope(envelope, world.key(envelope.from));
  return world.hub.submit(text).then(
    () => 100,
    (error: unknown) => WaybillError.from(error).status,
  );
}

async function ended(world: World, handoff: HandoffHandle): Promise<void> {
  await handoff.cancel();
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

const resultOf = (handoff: HandoffHandle, over: object, source: Source): Envelope =>
  createReply(
    handoff.envelope,
    {
      kind: "result",
      from: "worker",
      attempt: 1,
      re: handoff.digest,
      body: { status: 200, output: 1 },
      ...over,
    },
    source,
  );

test("14: a result from an agent that does not hold the attempt is 403 and changes nothing", async () => {
  const { world, handoff, source } = await underWay();
  for (const over of [
    { from: "stranger" },
    { from: "owner" },
    { from: "stranger", attempt: 2 },
    { attempt: 2 },
    { attempt: 65_535 },
  ]) {
    expect(await answerTo(world, resultOf(handoff, over, source))).toBe(403);
  }
  const other = `sha256:${"1".repeat(64)}` as const;
  expect(await answerTo(world, resultOf(handoff, { re: other }, source))).toBe(409);
  expect(await world.kinds(handoff.id)).toEqual(["handoff", "offer", "receipt 101"]);
  await ended(world, handoff);
});

test("15: a guessed handoff id gives no access", async () => {
  const { world, handoff, source } = await underWay();
  expect(await world.hub.handoff(handoff.id, "stranger")).toBeUndefined();
  expect(await world.hub.handoff(newId(), "owner")).toBeUndefined();
  const stranger = world.agent("stranger");
  await expect(stranger.attach(handoff.id)).rejects.toMatchObject({ status: 404 });
  const body = { capability: "work" };
  const { domain } = world.hub;
  const input = { from: "stranger", domain, to: "worker", body };
  const taken = createHandoff({ ...input, timeoutMs: 1_000, handoffId: handoff.id }, source);
  expect(await answerTo(world, taken)).toBe(403);
  const child = createHandoff({ ...input, parent: handoff.envelope }, source);
  expect(await answerTo(world, child)).toBe(403);
  await stranger.stop();
  await ended(world, handoff);
});

test("16 and 18: nothing changes a closed attempt or an ended handoff", async () => {
  const { world, handoff, source } = await underWay();
  expect(await answerTo(world, resultOf(handoff, {}, source))).toBe(100);
  expect(await handoff.result).toMatchObject({ output: 1 });
  const mine = { from: "worker", attempt: 1, re: handoff.digest };
  const owner = { from: "owner", to: "worker" };
  const late: Envelope[] = [
    resultOf(handoff, { body: { status: 200, output: 2 } }, source),
    createReply(handoff.envelope, { kind: "progress", ...mine, body: {} }, source),
    createReply(handoff.envelope, { kind: "receipt", ...mine, body: { status: 101 } }, source),
    createReply(handoff.envelope, { kind: "receipt", ...mine, body: { status: 300 } }, source),
    createReply(
      handoff.envelope,
      { kind: "question", ...mine, body: { questions: [{ id: "x" }] } },
      source,
    ),
    createReply(handoff.envelope, { kind: "cancel", ...owner, body: {} }, source),
  ];
  for (const envelope of late) expect(await answerTo(world, envelope)).toBe(410);
  const view = await world.hub.handoff(handoff.id, "owner");
  expect(view).toMatchObject({ state: "completed", status: 200 });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("17: a result after the cancellation or the deadline is 410", async () => {
  const { world, handoff, source } = await underWay();
  await handoff.cancel();
  expect(await answerTo(world, resultOf(handoff, {}, source))).toBe(410);
  const second = world
    .agent("owner")
    .handoff({ to: "worker", capability: "work", timeoutMs: 3_000 });
  await second.accepted;
  await world.clock.advance(3_000);
  expect(await answerTo(world, resultOf(second, {}, source))).toBe(410);
  await expect(second.result).rejects.toMatchObject({ status: 504 });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("19: an answer to a question that was not asked is 403, a second answer 410", async () => {
  const { world, handoff, source } = await underWay();
  const answer = (envelope: HandoffEnvelope, from: string, id: string, value: string): Envelope =>
    createReply(
      envelope,
      {
        kind: "answer",
        from,
        to: "worker",
        re: `sha256:${"2".repeat(64)}`,
        body: { question_id: id, answer: value },
      },
      source,
    );
  expect(await answerTo(world, answer(handoff.envelope, "owner", "q", "x"))).toBe(403);
  const asking = world.agent("owner").handoff({ to: "worker", capability: "ask" });
  for await (const question of asking.questions) {
    expect(question.id).toBe("q");
    expect(await answerTo(world, answer(asking.envelope, "stranger", "q", "mine"))).toBe(403);
    expect(await answerTo(world, answer(asking.envelope, "worker", "q", "mine"))).toBe(403);
    await asking.answer("q", "first");
    expect(await answerTo(world, answer(asking.envelope, "owner", "q", "second"))).toBe(410);
  }
  expect(await asking.result).toMatchObject({ output: "first" });
  await ended(world, handoff);
});

test("20: an agent can't control, read or replay another's handoffs", async () => {
  const { world, handoff, source } = await underWay();
  const from = "stranger";
  const re = handoff.digest;
  for (const envelope of [
    createReply(handoff.envelope, { kind: "cancel", from, to: "worker", body: {} }, source),
    createReply(
      handoff.envelope,
      { kind: "receipt", from, to: "hub", re, body: { status: 200 } },
      source,
    ),
  ]) {
    expect(await answerTo(world, envelope)).toBe(403);
  }
  const body = { capability: "work" };
  const { domain } = world.hub;
  const input = { from, domain, to: "worker", body, timeoutMs: 1_000 };
  expect(await answerTo(world, createHandoff({ ...input, replayOf: handoff.id }, source))).toBe(
    403,
  );
  // Only an agent's own signature opens its inbox.
  const thief = world.agent("owner", { key: generateKey() });
  await expect(thief.start()).rejects.toMatchObject({ status: 401 });
  const proof = signEnvelope(createHandoff(input, source), world.key("stranger"));
  const request = { agent: "owner", credit: 1, instance: "x", proof };
  await expect(world.hub.attach(request, () => undefined)).rejects.toMatchObject({ status: 400 });
  await ended(world, handoff);
});

test("a hello can't be replayed", async () => {
  const world = await World.open();
  const seen: Parameters<World["hub"]["attach"]>[0][] = [];
  const tapped = {
    ...world.hub,
    id: "hub",
    attach: (...args: Parameters<World["hub"]["attach"]>) => {
      seen.push(args[0]);
      return world.hub.attach(...args);
    },
  };
  const agent = world.agent("owner", { hub: tapped });
  await agent.start();
  await expect(world.hub.attach(seen[0]!, () => undefined)).rejects.toMatchObject({ status: 401 });
  await agent.stop();
});

test("35: floods of hops and children end at their limits", async () => {
  const world = await World.open({ limits: { fanOut: 5 } });
  const worker = world.agent("worker", { credit: 100 });
  const statuses: number[] = [];
  worker.serve("split", async (work) => {
    const children = Array.from({ length: 8 }, () =>
      work.handoff({ to: "worker", capability: "leaf" }).result.then(
        () => 200,
        (error: unknown) => WaybillError.from(error).status,
      ),
    );
    statuses.push(...(await Promise.all(children)));
    return statuses.length;
  });
  worker.serve("leaf", () => "leaf");
  worker.serve("deeper", async (work) => {
    const child = work.handoff({ to: "worker", capability: "deeper" });
    return (await child.result).output!;
  });
  await worker.start();
  const owner = world.agent("owner");
  await owner.handoff({ to: "worker", capability: "split" }).result;
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  expect(statuses.filter((status) => status === 413)).toHaveLength(3);
  const deep = owner.handoff({ to: "worker", capability: "deeper" });
  await expect(deep.result).rejects.toMatchObject({ status: 413 });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("36: an agent that accepts everything and does nothing is passed over once it has failed three times", async () => {
  const world = await World.open();
  const idle = world.agent("idle");
  idle.serve({ name: "work", lease_seconds: 5, reliability_sla: 1 }, never);
  await idle.start();
  await idle.stop({ mode: "abandon" });
  const busy = world.agent("busy");
  busy.serve({ name: "work", lease_seconds: 5 }, () => "done");
  await busy.start();
  // Attached and silent: it takes every offer, and sends nothing after that.
  const silent = await listen(
    world,
    "idle",
    (delivery) => {
      if (delivery.type === "offer") silent.taken(delivery.handoff_id, delivery.attempt);
    },
    100,
  );
  const owner = world.agent("owner");
  const handOff = async () => {
    const handoff = owner.handoff({ capability: "work", timeoutMs: 120_000 });
    await handoff.custody;
    return handoff;
  };
  // About half of them go to the silent agent first at random; three of them are enough.
  const first = await Promise.all(Array.from({ length: 24 }, handOff));
  await world.clock.advance(20_000);
  const recipientsOf = async ({ id }: { readonly id: string }) => {
    const view = await world.hub.handoff(id, "owner");
    return view!.attempts.map(({ recipient }) => recipient);
  };
  for (const handoff of first) expect(await handoff.result).toMatchObject({ by: "busy" });
  const lost = await Promise.all(first.map(recipientsOf));
  expect(lost.filter(([recipient]) => recipient === "idle").length).toBeGreaterThanOrEqual(3);
  for (let turn = 0; turn < 8; turn++) {
    const handoff = await handOff();
    await world.clock.advance(1_000);
    expect(await handoff.result).toMatchObject({ by: "busy" });
    expect(await recipientsOf(handoff)).toEqual(["busy"]);
  }
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("37: a poison handoff that kills every recipient ends after its last attempt", async () => {
  const world = await World.open();
  const killed: string[] = [];
  for (const id of ["a", "b", "c", "d", "e"]) {
    const agent = world.agent(id);
    agent.serve({ name: "work", lease_seconds: 5 }, () => {
      killed.push(id);
      return agent.stop({ mode: "abandon" }).then(never);
    });
    await agent.start();
  }
  const handoff = world.agent("owner").handoff({ capability: "work", timeoutMs: 600_000 });
  await handoff.custody;
  await world.clock.advance(60_000);
  await expect(handoff.result).rejects.toMatchObject({ status: 508 });
  expect(new Set(killed).size).toBe(3);
  expect(killed).toHaveLength(3);
  const [letter] = await world.server.deadLetters.list({ limit: 10 });
  expect(letter).toMatchObject({ id: handoff.id, status: 508, attempts: 3 });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("32: a manifest with a new key is refused without the old key's signature", async () => {
  const world = await World.open();
  const agent = world.agent("owner");
  await agent.start();
  const other = generateKey();
  const forged = signManifest({ agent_id: "owner", capabilities: [{ name: "x" }] }, other);
  await expect(world.hub.publish(forged)).rejects.toMatchObject({ status: 401 });
  // A manifest can't list another agent's key and so block that agent.
  const jwk = world.key("owner").jwk;
  const thief = { waybill: 1, kind: "manifest", agent_id: "thief", capabilities: [], sequence: 1 };
  const copied = signCompact(stringifyJson({ ...thief, keys: [other.jwk, jwk] }), other);
  await expect(world.hub.publish(copied)).rejects.toMatchObject({ status: 401 });
  await agent.stop();
});

test("32: a changed manifest under a pinned digest is 403, at the hub and at an agent", async () => {
  const pins = new Map<string, { digest: Digest }>();
  const world = await World.open({ trust: { firstUse: true, pins } });
  const serve = (description: string) => {
    const worker = world.agent("worker", { manifest: { description } });
    worker.serve("work", () => "done");
    return worker;
  };
  const before = serve("as it was");
  await before.start();
  await before.stop();
  const { manifests } = await world.hub.manifests({ agent: "worker" });
  const pinned = { digest: digestOfJws(manifests[0]!.text) };
  pins.set("worker", pinned);
  await expect(serve("changed").start()).rejects.toMatchObject({ status: 403 });
  const unchanged = serve("as it was");
  await unchanged.start();
  await unchanged.stop();

  // The decision of a hub does not bind an agent that has pinned the manifest.
  pins.clear();
  await serve("changed").start();
  const failures: unknown[] = [];
  const owner = world.agent("owner", {
    trust: { firstUse: true, pins: new Map([["worker", pinned]]) },
    log: ({ event, error }) => {
      if (event === "failure") failures.push(error);
    },
  });
  const handoff = owner.handoff({ to: "worker", capability: "work" });
  await handoff.custody;
  await settled();
  expect(failures).toContainEqual(expect.objectContaining({ status: 403 }));
  await owner.stop({ mode: "abandon" });
  await expect(handoff.accepted).rejects.toMatchObject({ status: 503 });
});

test("31: a flood of frames about others' or unknown handoffs changes nothing", async () => {
  const { world, handoff } = await underWay();
  const before = await world.store.ledgerHead();
  const stranger = await listen(world, "stranger", () => undefined);
  for (let turn = 0; turn < 2_000; turn++) {
    for (const id of [handoff.id, newId(), "", "__proto__"]) {
      stranger.heartbeat(id, 1);
      stranger.taken(id, turn);
    }
  }
  await settled();
  expect(await world.store.ledgerHead()).toEqual(before);
  expect(await world.hub.handoff(handoff.id, "owner")).toMatchObject({ state: "open" });
  await stranger.close();
  await ended(world, handoff);
});

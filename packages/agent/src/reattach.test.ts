import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { createAgent } from "./agent.ts";
import { settled, World } from "./world-fixture.ts";

test("an answer that arrives while the recipient is not attached reaches the waiting work", async () => {
  const options = { store: memoryStore(), key: generateKey() };
  let hub: HubServer = await openHub(options);
  let mayAttach = Promise.resolve();
  const link = (waits: boolean): Hub => ({
    id: hub.id,
    domain: hub.domain,
    submit: (envelope) => hub.submit(envelope),
    publish: (manifest) => hub.publish(manifest),
    manifests: (query) => hub.manifests(query),
    find: (query) => hub.find(query),
    handoff: (id, as) => hub.handoff(id, as),
    async attach(request, handler) {
      if (waits) await mayAttach;
      return hub.attach(request, handler);
    },
  });
  const worker = createAgent({ id: "worker", key: generateKey(), hub: link(true) });
  worker.serve("travel", async (work) => ["to", await work.ask("Where to?")]);
  await worker.start();
  const owner = createAgent({ id: "owner", key: generateKey(), hub: link(false) });
  const handoff = owner.handoff({ to: "worker", capability: "travel", timeoutMs: 60_000 });
  for await (const question of handoff.questions) {
    const { promise, resolve: attachAgain } = Promise.withResolvers<void>();
    mayAttach = promise;
    await hub.close();
    hub = await openHub(options);
    await handoff.answer(question.id, "Rome");
    attachAgain();
    break;
  }
  expect((await handoff.result).output).toEqual(["to", "Rome"]);
  await Promise.all([worker.stop(), owner.stop()]);
  await hub.close();
}, 30_000);

test("a result that arrives while its delegator reattaches is not lost", async () => {
  const hub = await openHub({ store: memoryStore(), key: generateKey() });
  const finish = Promise.withResolvers<string>();
  const worker = createAgent({ id: "worker", key: generateKey(), hub });
  worker.serve("work", () => finish.promise);
  await worker.start();

  const key = generateKey();
  const first = createAgent({ id: "owner", key, hub });
  const made = first.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  await made.accepted;
  await first.stop({ mode: "abandon" });

  // A remote hub, whose answer about the handoff is overtaken by the result.
  const isAsked = Promise.withResolvers<void>();
  const hasResult = Promise.withResolvers<void>();
  const slow: Hub = {
    ...hub,
    async handoff(id, as) {
      const view = await hub.handoff(id, as);
      isAsked.resolve();
      await hasResult.promise;
      return view;
    },
    attach: (request, handler) =>
      hub.attach(request, (delivery) => {
        handler(delivery);
        if (delivery.type === "envelope" && finished) hasResult.resolve();
      }),
  };
  let finished = false;
  const second = createAgent({ id: "owner", key, hub: slow });
  await second.start();
  const attaching = second.attach(made.id);
  const again = second.attach(made.id);
  await isAsked.promise;
  finished = true;
  finish.resolve("done");
  const handle = await attaching;
  expect(await again).toBe(handle);
  expect((await handle.result).output).toBe("done");
  await Promise.all([worker.stop(), second.stop()]);
  await hub.close();
}, 30_000);

test("a delegator that reattaches sees only the questions that an attempt still waits for", async () => {
  const world = await World.open();
  const key = { name: "travel", lease_seconds: 30 };
  const first = world.agent("first");
  first.serve({ ...key, reliability_sla: 1 }, (work) => work.ask("Where to?"));
  await first.start();
  const owner = world.agent("owner");
  const made = owner.handoff({ capability: "travel", timeoutMs: 600_000 });
  await made.accepted;
  await settled();
  await first.stop({ mode: "abandon" });
  // The restarted process does not know the attempt, and the hub asks somebody else.
  const next = world.agent("first", { credit: 0 });
  next.serve(key, () => "never asked");
  await next.start();
  const second = world.agent("second");
  second.serve(key, (work) => work.ask("Where to?"));
  await second.start();
  await world.clock.advance(5_000);
  await owner.stop({ mode: "abandon" });

  const again = await world.agent("owner").attach(made.id);
  const asked: string[] = [];
  for await (const { id, by } of again.questions) {
    asked.push(by);
    await again.answer(id, "Rome");
    if (by === "second") break;
  }
  expect(asked).toEqual(["second"]);
  expect(await again.result).toMatchObject({ by: "second", output: "Rome" });
  await next.stop();
});

test("an agent that has stopped, or stops meanwhile, does not attach", async () => {
  const hub = await openHub({ store: memoryStore(), key: generateKey() });
  const worker = createAgent({ id: "worker", key: generateKey(), hub });
  worker.serve("work", () => new Promise<never>(() => undefined));
  await worker.start();
  const key = generateKey();
  const first = createAgent({ id: "owner", key, hub });
  const made = first.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  await made.custody;
  expect(made.hasEnded).toBe(false);
  await first.stop({ mode: "abandon" });
  await expect(made.result).rejects.toMatchObject({ status: 503 });
  expect(made.hasEnded).toBe(false);
  await expect(first.attach(made.id)).rejects.toMatchObject({ status: 503 });

  // The hub's answer comes while the agent stops.
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: Hub = {
    ...hub,
    async handoff(id, as) {
      asked.resolve();
      await answer.promise;
      return hub.handoff(id, as);
    },
  };
  const second = createAgent({ id: "owner", key, hub: slow });
  await second.start();
  const attaching = second.attach(made.id);
  await asked.promise;
  const stopping = second.stop();
  answer.resolve();
  const handle = await attaching.catch((error: unknown) => error);
  await stopping;
  await expect(
    handle instanceof Error ? Promise.reject(handle) : (handle as typeof made).result,
  ).rejects.toMatchObject({ status: 503 });
  await worker.stop({ mode: "abandon" });
  await hub.close();
});

import { createHandoff, generateKey, newId, provenKey, signEnvelope } from "@waybill/protocol";
import type { ManifestInput, PrivateKey } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { settled, World } from "./world-fixture.ts";

async function holds(world: World): Promise<void> {
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

/** Lists the next key under the old key's signature, then drops the old key under the next one's. */
async function rotate(
  world: World,
  id: string,
  make: (key: PrivateKey, keys: ManifestInput["keys"]) => Agent,
): Promise<Agent> {
  const old = world.key(id);
  const next = generateKey();
  const both = make(old, [old.jwk, provenKey(id, next)]);
  await both.start();
  await both.stop({ mode: "abandon" });
  await world.clock.advance(1_000);
  world.keys.set(id, next);
  return make(next, [next.jwk]);
}

test("a handoff that was signed before its delegator's key rotation is accepted and returned afterwards", async () => {
  const world = await World.open();
  const failures: unknown[] = [];
  const serve = () => {
    const worker = world.agent("worker", {
      log: ({ event, error }) => event === "failure" && failures.push(error),
    });
    worker.serve("work", ({ ask }) => ask({ id: "q", text: "Which?" }));
    return worker;
  };
  const first = serve();
  await first.start();
  await first.stop();
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "work" });
  await handoff.custody;
  await owner.stop({ mode: "abandon" });
  const old = world.key("owner");
  const again = await rotate(world, "owner", (key, keys) =>
    world.agent("owner", { key, manifest: { keys } }),
  );
  await again.start();
  await serve().start();
  const found = await again.attach(handoff.id);
  for await (const question of found.questions) await found.answer(question.id, "this");
  expect(await found.result).toMatchObject({ output: "this", attempt: 1 });
  await settled();
  expect(failures).toEqual([]);
  // The old key is valid for what arrived before, and for nothing that arrives now.
  const { domain } = world.hub;
  const body = { capability: "work" };
  const input = { from: "owner", domain, to: "worker", body, timeoutMs: 1_000 };
  const source = { now: () => world.clock.now(), newId: () => newId() };
  const late = signEnvelope(createHandoff(input, source), old);
  await expect(world.hub.submit(late)).rejects.toMatchObject({ status: 401 });
  await holds(world);
});

test("a result and a paused state stay valid after their recipient's key rotation", async () => {
  const world = await World.open();
  const serve = (key: PrivateKey, keys: ManifestInput["keys"]) => {
    const worker = world.agent("worker", { key, manifest: { keys } });
    worker.serve("work", () => "done");
    worker.serve("book", ({ resume, pause }) =>
      resume === undefined
        ? pause({ id: "ok", text: "Book it?" }, "half done")
        : [resume.state, resume.answers.get("ok")!],
    );
    return worker;
  };
  const key = world.key("worker");
  const worker = serve(key, [key.jwk]);
  await worker.start();
  const owner = world.agent("owner");
  const done = owner.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  const paused = owner.handoff({ to: "worker", capability: "book" });
  await done.result;
  for await (const question of paused.questions) {
    expect(question.isPaused).toBe(true);
    break;
  }
  await settled();
  await owner.stop({ mode: "abandon" });
  await worker.stop();
  await (await rotate(world, "worker", serve)).start();
  const later = world.agent("owner");
  const found = await later.attach(done.id);
  expect(await found.result).toMatchObject({ output: "done" });
  const resumed = await later.attach(paused.id);
  for await (const question of resumed.questions) await resumed.answer(question.id, "yes");
  expect(await resumed.result).toMatchObject({ output: ["half done", "yes"] });
  await settled();
  await holds(world);
});

test("a key with an expiry is judged by the time at which its envelope arrived, manifests included", async () => {
  const world = await World.open();
  const retired_at = new Date(world.clock.now() + 60_000).toISOString();
  const old = world.key("worker");
  const next = generateKey();
  const serve = (key: PrivateKey, keys: ManifestInput["keys"]) => {
    const worker = world.agent("worker", { key, manifest: { keys } });
    worker.serve("work", () => "done");
    return worker;
  };
  const worker = serve(old, [{ ...old.jwk, kid: old.kid, retired_at }, provenKey("worker", next)]);
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  await handoff.result;
  await owner.stop({ mode: "abandon" });
  await worker.stop();
  await world.clock.advance(120_000);
  world.keys.set("worker", next);
  await serve(next, [next.jwk]).start();
  const found = await world.agent("owner").attach(handoff.id);
  expect(await found.result).toMatchObject({ output: "done" });
  const fresh = world.agent("another").handoff({ to: "worker", capability: "work" });
  expect(await fresh.result).toMatchObject({ output: "done" });
  await settled();
  await holds(world);
});

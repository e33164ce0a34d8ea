import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { digestOfJws, generateKey, provenKey, signManifest } from "@waybill/protocol";
import { expect, test } from "vitest";
import { createAgent } from "./agent.ts";
import { lineTo } from "./world-fixture.ts";

test("a replaced agent fails its pending and its new handoffs with the reason", async () => {
  const hub = await openHub({ store: memoryStore(), key: generateKey(), id: "hub" });
  const worker = createAgent({ id: "worker", key: generateKey(), hub });
  const finish = Promise.withResolvers<string>();
  worker.serve("work", () => finish.promise);
  await worker.start();
  const key = generateKey();
  const first = createAgent({ id: "owner", key, hub });
  const handoff = first.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  await handoff.accepted;

  const second = createAgent({ id: "owner", key, hub });
  await second.start();
  await expect(handoff.result).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining("Another process has attached as owner") as string,
    cause: { status: 409 },
  });
  await expect(first.handoff({ to: "worker", capability: "work" }).custody).rejects.toMatchObject({
    status: 409,
  });
  expect(await first.closed).toMatchObject({ status: 409 });
  finish.resolve("done");
  expect((await (await second.attach(handoff.id)).result).output).toBe("done");
  await Promise.all([worker.stop(), first.stop(), second.stop()]);
  expect(await second.closed).toBeUndefined();
  await hub.close();
});

test("an agent that reconnects to a hub that does not know it is told so", async () => {
  const key = generateKey();
  let hub: HubServer = await openHub({ store: memoryStore(), key, id: "hub" });
  const manifest = { agent_id: "worker", capabilities: [{ name: "work" }] };
  await hub.publish(signManifest(manifest, generateKey()));
  const agent = createAgent({ id: "owner", key: generateKey(), hub: lineTo(() => hub) });
  const handoff = agent.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  await handoff.custody;
  const before = hub;
  hub = await openHub({ store: memoryStore(), key, id: "hub" });
  await before.close();
  await expect(handoff.result).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining("Publish a manifest that lists this key first") as string,
    cause: { status: 401 },
  });
  await agent.stop();
  await hub.close();
});

test("an agent that only serves learns that its hub refuses it", async () => {
  const options = { store: memoryStore(), key: generateKey(), id: "hub" };
  let hub: HubServer = await openHub(options);
  const old = generateKey();
  const worker = createAgent({ id: "worker", key: old, hub: lineTo(() => hub) });
  worker.serve("work", () => "done");
  await worker.start();
  // Its key is changed elsewhere, and its hub restarts.
  const { manifests } = await hub.manifests({ agent: "worker" });
  const changed = { agent_id: "worker", capabilities: [{ name: "work" }] };
  const keys = [provenKey("worker", generateKey())];
  const follows = { sequence: 2, previous: digestOfJws(manifests[0]!.text) };
  await hub.publish(signManifest({ ...changed, ...follows, keys }, old));
  const before = hub;
  hub = await openHub(options);
  await before.close();
  expect(await worker.closed).toMatchObject({ status: 401 });
  await worker.stop();
  await hub.close();
});

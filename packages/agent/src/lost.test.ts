import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { generateKey, signManifest } from "@waybill/protocol";
import { expect, test } from "vitest";
import { createAgent } from "./agent.ts";
import { lineTo } from "./world-fixture.ts";

test("who was pushed out by another process is told so, for what it waits for and for what it begins", async () => {
  const hub = await openHub({ store: memoryStore(), key: generateKey() });
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
  finish.resolve("done");
  expect((await (await second.attach(handoff.id)).result).output).toBe("done");
  await Promise.all([worker.stop(), first.stop(), second.stop()]);
  await hub.close();
});

test("who comes back to a hub that does not know it is told so", async () => {
  const key = generateKey();
  let hub: HubServer = await openHub({ store: memoryStore(), key });
  const manifest = { agent_id: "worker", capabilities: [{ name: "work" }] };
  await hub.publish(signManifest(manifest, generateKey()));
  const agent = createAgent({ id: "owner", key: generateKey(), hub: lineTo(() => hub) });
  const handoff = agent.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  await handoff.custody;
  const before = hub;
  hub = await openHub({ store: memoryStore(), key });
  await before.close();
  await expect(handoff.result).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining("publish its manifest before it attaches") as string,
    cause: { status: 401 },
  });
  await agent.stop();
  await hub.close();
});

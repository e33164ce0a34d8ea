import {
  createReply,
  digestOfJws,
  parseEnvelope,
  readCompact,
  signEnvelope,
} from "@waybill/protocol";
import type { HandoffEnvelope, ReceiptEnvelope } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { refusalOf, settled, World } from "../world-fixture.ts";

const SILENCE_MS = 60_000;

test("an attachment that the hub answers after it was given up is closed again", async () => {
  const world = await World.open();
  const gate = Promise.withResolvers<void>();
  const hub: Hub = {
    ...world.hub,
    domain: world.hub.domain,
    async attach(request, handler, show) {
      const attachment = await world.hub.attach(request, handler, show);
      await gate.promise;
      return attachment;
    },
  };
  const worker = world.agent("worker", { hub });
  worker.serve("work", () => "done");
  const starting = worker.start();
  const refused = refusalOf(starting);
  await world.clock.advance(SILENCE_MS + 1);
  expect((await refused).status).toBe(503);
  gate.resolve();
  await settled();
  expect(await world.server.operator.presence("worker")).toMatchObject({ isConnected: false });
});

test("a hub's receipt for something else is not taken for custody", async () => {
  const world = await World.open();
  const receipts: string[] = [];
  let isLying = false;
  const hub: Hub = {
    ...world.hub,
    domain: world.hub.domain,
    async submit(envelope) {
      const receipt = await world.hub.submit(envelope);
      receipts.push(receipt);
      return isLying ? receipts[0]! : receipt;
    },
  };
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  const owner = world.agent("owner", { hub });
  await owner.handoff({ to: "worker", capability: "work" }).custody;
  isLying = true;
  const next = owner.handoff({ to: "worker", capability: "work" });
  await expect(next.custody).rejects.toMatchObject({ status: 401 });
});

test("a receipt for several counts as the custody of each of them", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  const owner = world.agent("owner");
  await owner.start();
  const handles = [1, 2, 3].map(() => owner.handoff({ to: "worker", capability: "work" }));
  const custodies = await Promise.all(handles.map(({ custody }) => custody));
  expect(new Set(custodies.map(({ text }) => text)).size).toBe(1);
  const receipt = parseEnvelope(readCompact(custodies[0]!.text).payload) as ReceiptEnvelope;
  const named = [receipt, ...(receipt.body.also ?? [])].map(({ handoff_id: id }) => id);
  expect(named).toEqual(handles.map(({ id }) => id));
  const results = await Promise.all(handles.map(({ result }) => result));
  expect(results.map(({ output }) => output)).toEqual(["done", "done", "done"]);
});

test("a receipt by anybody but the hub is not taken for custody", async () => {
  const world = await World.open();
  const hub: Hub = {
    ...world.hub,
    domain: world.hub.domain,
    async submit(text) {
      await world.hub.submit(text);
      const handoff = parseEnvelope(readCompact(text).payload) as HandoffEnvelope;
      const about = { from: "thief", re: digestOfJws(text), body: { status: 100 } } as const;
      return signEnvelope(createReply(handoff, { kind: "receipt", ...about }), world.key("thief"));
    },
  };
  for (const id of ["worker", "thief"]) {
    const agent = world.agent(id);
    agent.serve("work", () => "done");
    await agent.start();
  }
  const handle = world.agent("owner", { hub }).handoff({ to: "worker", capability: "work" });
  await expect(handle.custody).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining("thief") as string,
  });
});

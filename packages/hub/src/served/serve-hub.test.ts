import { parseEnvelope, readCompact } from "@waybill/protocol";
import { expect, test } from "vitest";
import { ask, openWorld } from "./served-fixture.ts";

test("a handoff goes from a socket to a poll and back, and its receipts come in the responses", async () => {
  const world = await openWorld();
  const owner = await world.party("owner");
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await owner.attach();
  const handoff = owner.handoff("worker");
  const { receipt } = await wire.call("submit", { envelope: handoff.text });
  expect(parseEnvelope(readCompact(receipt as string).payload)).toMatchObject({
    kind: "receipt",
    from: "hub",
    body: { status: 100 },
  });

  const polled = await worker.poll();
  expect(polled.json).toMatchObject({
    deliveries: [
      {
        type: "offer",
        handoff_id: handoff.envelope.handoff_id,
        attempt: 1,
        envelope: handoff.text,
      },
    ],
  });
  const report = { instance: worker.instance };
  const attempt = { handoff_id: handoff.envelope.handoff_id, attempt: 1 };
  const body = { ...report, taken: [attempt] };
  expect(await worker.ask("/v1/inbox", { body })).toMatchObject({ status: 204, text: "" });
  expect(await worker.submit(worker.accept(handoff))).toMatchObject({ status: 200 });
  expect(await worker.submit(worker.result(handoff))).toMatchObject({ status: 200 });

  for (const kind of ["receipt", "result"]) {
    const delivery = await wire.delivery("envelope");
    const { payload } = readCompact(delivery["envelope"]);
    expect(parseEnvelope(payload)).toMatchObject({ kind, from: "worker" });
    wire.say({ type: "seen", id: delivery["id"] as string });
  }
  const { handoff: view } = await wire.call("handoff", { id: handoff.envelope.handoff_id });
  expect(view).toMatchObject({ state: "completed", status: 200 });
  const path = `/v1/handoffs/${handoff.envelope.handoff_id}`;
  expect((await worker.ask(path)).json).toEqual(view);
  await wire.close();
  await world.close();
});

test("the well-known page says who the hub is and where everything is", async () => {
  const world = await openWorld();
  const { json } = await ask(`${world.url}/.well-known/waybill`);
  expect(json).toMatchObject({
    waybill: 1,
    hub: "hub",
    api: `${world.url}/v1`,
    socket: `${world.url.replace("http", "ws")}/v1/socket`,
  });
  expect(await ask(`${world.url}/readyz`)).toMatchObject({ status: 200 });
  await world.close();
});

import { sessionKey } from "@waybill/protocol";
import { expect, test } from "vitest";
import { World } from "./world-fixture.ts";

test("WB-221 a recipient sees for whom an edge acts, and keeps the sessions of principals apart", async () => {
  const world = await World.open();
  await world.server.operator.changeGroup("edges", { add: ["gateway"] });
  const worker = world.agent("worker");
  worker.serve("chat", ({ envelope, session }) => [envelope.on_behalf_of ?? null, session!.key]);
  await worker.start();
  const gateway = world.agent("gateway");
  const ask = async (onBehalfOf?: string) =>
    (await gateway.handoff({ capability: "chat", session: "trip", onBehalfOf }).result).output;
  expect(await ask("ada")).toEqual(["ada", sessionKey("gateway/ada", "trip")]);
  expect(await ask("ben")).toEqual(["ben", sessionKey("gateway/ben", "trip")]);
  expect(await ask()).toEqual([null, sessionKey("gateway", "trip")]);
});

test("WB-213 a recipient does not take an edge's permission for that of its principal", async () => {
  const world = await World.open();
  await world.server.operator.changeGroup("edges", { add: ["gateway"] });
  const worker = world.agent("worker");
  worker.serve({ name: "inner", from: { agents: ["gateway"] } }, () => "done");
  await worker.start();
  const gateway = world.agent("gateway");
  await expect(gateway.handoff({ capability: "inner" }).result).resolves.toMatchObject({
    output: "done",
  });
  const forAda = gateway.handoff({ capability: "inner", to: "worker", onBehalfOf: "ada" });
  await expect(forAda.custody).rejects.toMatchObject({ status: 403 });
});

test("a name that can't be on the wire is refused at once", async () => {
  const world = await World.open();
  const gateway = world.agent("gateway");
  expect(() => gateway.handoff({ capability: "chat", onBehalfOf: "Ada Lovelace" })).toThrow(
    expect.objectContaining({ status: 400, at: "/on_behalf_of" }),
  );
});

import { generateKey } from "@waybill/protocol";
import { expect, test } from "vitest";
import { createAgent } from "../agent.ts";
import { Network } from "./served-fixture.ts";

test("an agent that has attached too often waits until the hub admits it again", async () => {
  const limits = { attachmentBurstPerAgent: 1, attachmentsPerAgent: 30 };
  const network = await Network.open({ limits });
  const key = generateKey();
  const waits: unknown[] = [];
  for (let time = 0; time < 2; time++) {
    const agent = createAgent({
      id: "script",
      key,
      hub: await network.connect(),
      log: ({ event, error }) => void (event === "waiting" && waits.push(error)),
    });
    await agent.start();
    await agent.stop();
  }
  for (const wait of waits) expect(wait).toMatchObject({ status: 301 });
  await network.close();
});

test("an agent that stops during this wait does not attach later", async () => {
  const limits = { attachmentBurstPerAgent: 1, attachmentsPerAgent: 2 };
  const network = await Network.open({ limits });
  const key = generateKey();
  const first = createAgent({ id: "script", key, hub: await network.connect() });
  await first.start();
  await first.stop();
  const { promise: waiting, resolve } = Promise.withResolvers<void>();
  const second = createAgent({
    id: "script",
    key,
    hub: await network.connect(),
    log: ({ event }) => void (event === "waiting" && resolve()),
  });
  const starting = second.start();
  await waiting;
  await second.stop();
  await expect(starting).rejects.toMatchObject({ status: 301 });
  await network.close();
});

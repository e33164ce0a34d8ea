/// <reference types="node" />
import { generateKey } from "@waybill/protocol";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import type { ServedHub } from "@waybill/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAgent } from "../agent.ts";
import { connect } from "../connect.ts";

let hub: HubServer;
let served: ServedHub;

beforeEach(async () => {
  const store = memoryStore();
  hub = await openHub({ store });
  served = await serveHub({ hub, store, newcomers: "invitation" });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await served.close();
  await hub.close();
});

async function starts(invitation?: string): Promise<void> {
  const connected = await connect(served.url);
  const agent = createAgent({ id: "anna", key: generateKey(), hub: connected, invitation });
  try {
    await agent.start();
  } finally {
    await agent.stop();
    await connected.close();
  }
}

test("an agent is admitted with its invitation", async () => {
  await expect(starts()).rejects.toMatchObject({ status: 403 });
  await starts((await hub.operator.invite({ agent: "anna" })).token);
});

test("an agent takes the invitation for its hub from the environment", async () => {
  const other = await openHub({ store: memoryStore() });
  const tokens = [await other.operator.invite(), await hub.operator.invite()];
  await other.close();
  vi.stubEnv("WAYBILL_INVITATION", tokens.map(({ token }) => token).join(" "));
  await starts();
});

test("an invitation to another hub is not used here, not even for a proof", async () => {
  const other = await openHub({ store: memoryStore() });
  const { token } = await other.operator.invite();
  await other.close();
  const publish = vi.spyOn(hub.operator, "publish");
  await expect(starts(token)).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining("nothing was sent") as string,
  });
  expect(publish).not.toHaveBeenCalled();
});

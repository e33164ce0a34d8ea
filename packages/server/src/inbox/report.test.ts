import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { openWorld } from "../served-fixture.ts";
import type { WorldOptions } from "../served-fixture.ts";

/** A store that counts how many handoffs are read in each turn of the event loop. */
function countingStore(): { readonly store: Store; readonly mostInATurn: () => number } {
  const store = memoryStore();
  let now = 0;
  let most = 0;
  const read = store.handoff.bind(store);
  store.handoff = (id) => {
    if (now++ === 0) setImmediate(() => (now = 0));
    most = Math.max(most, now);
    return read(id);
  };
  return { store, mostInATurn: () => most };
}

const MOST = 1_000;
/** One piece of work in a turn. */
const SHORT_TURNS: WorldOptions["serve"] = { limits: { turnMs: 1e-9 } };

test("41: a report about a thousand attempts is processed a few at a time, in turns with other work", async () => {
  const { store, mostInATurn } = countingStore();
  const world = await openWorld({ hub: { store }, serve: SHORT_TURNS });
  const agent = await world.party("agent");
  const attempts = Array.from({ length: MOST }, () => ({ handoff_id: newId(), attempt: 1 }));
  const body = { instance: agent.instance, taken: attempts, heartbeats: attempts };
  expect((await agent.ask("/v1/inbox", { body })).status).toBe(204);
  expect(mostInATurn()).toBeGreaterThan(0);
  expect(mostInATurn()).toBeLessThanOrEqual(2 * 32);
  const line = await agent.attach();
  line.say(
    ...attempts.map(({ handoff_id: handoffId, attempt }) => ({
      type: "taken" as const,
      handoff_id: handoffId,
      attempt,
    })),
  );
  await line.call("manifests", { agent: "hub" });
  expect(mostInATurn()).toBeLessThanOrEqual(2 * 32);
  await line.close();
  await world.close();
});

test("40: each attempt in a report costs as much as a call", async () => {
  const world = await openWorld({ serve: { limits: { callsPerAgent: 1, burstPerAgent: 100 } } });
  const agent = await world.party("agent");
  const seen = Array.from({ length: 50 }, () => newId());
  const body = { instance: agent.instance, seen };
  expect((await agent.ask("/v1/inbox", { body })).status).toBe(204);
  const refused = await agent.ask("/v1/inbox", { body });
  expect(refused.json).toMatchObject({ waybill_status: 301 });
  expect(refused.json).toHaveProperty("retry_after_ms");
  await world.close();
});

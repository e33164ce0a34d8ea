import { DEFAULT_TERMS } from "@waybill/protocol/hub";
import type { HandoffEnvelope } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import { offersOf, World } from "../world-fixture.ts";
import { bindTerms } from "./terms.ts";

let world: World | undefined;
afterEach(() => world?.hub.close());

const LONG = { name: "work", lease_seconds: 120, max_attempts: 1 };
const SHORT = { name: "work", lease_seconds: 30, max_attempts: 3 };

test("the lease is the largest of all agents that can take the handoff", async () => {
  world = await World.open();
  const owner = await world.publish("owner");
  await world.publish("long", [LONG]);
  const worker = await world.attach(await world.publish("short", [SHORT]));
  await world.handOff(owner);
  expect(offersOf(worker)).toMatchObject([{ lease_ms: 120_000 }]);
});

test("the terms are the widest of all offers", () => {
  const handoff = { body: { capability: "work" } } as HandoffEnvelope;
  for (const terms of [
    [LONG, SHORT],
    [SHORT, LONG],
  ]) {
    const offers = terms.map((each) => ({ name: "work", terms: each }) as never);
    const bound = bindTerms(handoff, offers, DEFAULT_TERMS);
    expect(bound).toMatchObject({ leaseMs: 120_000, maxAttempts: 3 });
  }
});

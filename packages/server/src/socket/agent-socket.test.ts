/// <reference types="node" />
import { memoryStore } from "@waybill/hub";
import type { HubLogEvent, Store } from "@waybill/hub";
import { digestOfJws, parseEnvelope, readCompact } from "@waybill/protocol";
import type { Digest, ReceiptEnvelope } from "@waybill/protocol";
import type { HubFrame } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { ask, openWorld, Wire } from "../served-fixture.ts";
import type { World } from "../served-fixture.ts";

type Reply = Extract<HubFrame, { type: "reply" }>;

/** The digests that the receipt in a reply names. */
function namedIn(reply: Reply): Digest[] {
  const { receipt } = ("value" in reply ? reply.value : {}) as { receipt: string };
  const { re, body } = parseEnvelope(readCompact(receipt).payload) as ReceiptEnvelope;
  return [re, ...(body.also ?? []).map((each) => each.re)];
}

let world: World;
afterEach(() => world.close());

/** A store of which keys are read no sooner than the test says. */
function storeWithGate(): {
  store: Store;
  hold: () => void;
  asked: Promise<void>;
  open: () => void;
} {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  const store = new Proxy(memoryStore(), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "key") return value.bind(target) as unknown;
      return async (kid: string) => {
        if (isHeld) {
          asked.resolve();
          await gate.promise;
        }
        return target.key(kid);
      };
    },
  });
  return { store, hold: () => (isHeld = true), asked: asked.promise, open: gate.resolve };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("an agent whose socket is gone before its hello is answered is not attached", async () => {
  const { store, hold, asked, open } = storeWithGate();
  const attached = Promise.withResolvers<void>();
  const log = ({ event }: HubLogEvent) => {
    if (event === "attached") attached.resolve();
  };
  world = await openWorld({ hub: { store, log } });
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await Wire.open(world.url);
  const { nonce } = await wire.next("challenge");
  hold();
  wire.say({ type: "hello", proof: worker.hello(nonce), credit: 1 });
  await asked;
  await wire.close();
  await ask(`${world.url}/healthz`);
  open();
  await attached.promise;
  await turns();
  expect(await world.hub.operator.presence("worker")).toMatchObject({ isConnected: false });
});

test("a socket takes one hello, and frames only after it", async () => {
  world = await openWorld();
  const worker = await world.party("worker", [{ name: "work" }]);
  const early = await Wire.open(world.url);
  await early.next("challenge");
  early.say({ type: "credit", credit: 1 });
  expect(await early.next("closed")).toMatchObject({ problem: { waybill_status: 401 } });
  const wire = await worker.attach();
  wire.say({ type: "hello", proof: worker.hello("again"), credit: 1 });
  expect(await wire.next("closed")).toMatchObject({ problem: { waybill_status: 400 } });
});

/** Submits in one message; returns the replies in their order of arrival, once all are answered. */
async function repliesTo(wire: Wire, calls: readonly object[]): Promise<Reply[]> {
  wire.say(
    ...calls.map((params, index) => ({
      type: "call" as const,
      number: index + 1,
      call: "submit" as const,
      params: params as never,
    })),
  );
  const replies: Reply[] = [];
  for (let answered = 0; answered < calls.length;) {
    const reply = await wire.next("reply");
    replies.push(reply);
    answered += 1 + (("also" in reply ? reply.also : undefined) ?? []).length;
  }
  return replies;
}

test("calls that accept a shared receipt are answered by one reply", async () => {
  world = await openWorld();
  const owner = await world.party("owner");
  await world.party("worker", [{ name: "work" }]);
  const wire = await owner.attach();
  const handoffs = [1, 2, 3].map(() => owner.handoff("worker"));
  const replies = await repliesTo(
    wire,
    handoffs.map(({ text }) => ({ envelope: text, shared_receipt: true })),
  );
  expect(replies).toMatchObject([{ number: 1, also: [2, 3] }]);
  expect(namedIn(replies[0]!)).toEqual(handoffs.map(({ text }) => digestOfJws(text)));
});

test("calls that do not ask for a shared receipt get one each", async () => {
  world = await openWorld();
  const owner = await world.party("owner");
  await world.party("worker", [{ name: "work" }]);
  const wire = await owner.attach();
  const handoffs = [1, 2, 3].map(() => owner.handoff("worker"));
  const [, , last] = handoffs;
  const replies = await repliesTo(wire, [
    { envelope: handoffs[0]!.text },
    { envelope: handoffs[1]!.text, shared_receipt: false },
    { envelope: last!.text, shared_receipt: true },
  ]);
  expect(replies.map(namedIn)).toEqual(handoffs.map(({ text }) => [digestOfJws(text)]));
  // Even the same receipt is sent to each.
  const again = { envelope: last!.text };
  expect(await repliesTo(wire, [again, again])).toHaveLength(2);
  const [refused] = await repliesTo(wire, [{ ...again, shared_receipt: 1 }]);
  expect(refused).toMatchObject({ problem: { waybill_status: 400 } });
});

test("the envelopes of another agent share no receipt, whoever carries them", async () => {
  world = await openWorld();
  const owner = await world.party("owner");
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await worker.attach();
  const handoffs = [1, 2].map(() => owner.handoff("worker"));
  const replies = await repliesTo(
    wire,
    handoffs.map(({ text }) => ({ envelope: text, shared_receipt: true })),
  );
  expect(replies.map(namedIn)).toEqual(handoffs.map(({ text }) => [digestOfJws(text)]));
});

import { expect, test } from "vitest";
import type { Delivery } from "@waybill/protocol/wire";
import { AgentSession } from "./agent-session.ts";
import { UnacknowledgedDeliveries } from "./unacknowledged-deliveries.ts";

function attach(
  handler: (delivery: Delivery) => void,
  holds: (more: number) => void = () => undefined,
  frame: () => Promise<void> = () => Promise.resolve(),
  hasRoom: () => void = () => undefined,
): {
  attached: AgentSession;
  left: string[];
} {
  const left: string[] = [];
  const attached = new AgentSession(
    { agent: "owner", credit: 1, instance: "one" },
    handler,
    { now: () => 0, setTimer: () => () => undefined },
    {
      frame,
      delta: () => undefined,
      holds,
      hasRoom,
      roomChanged: () => undefined,
      left: ({ agent }) => left.push(agent),
      failed: () => undefined,
    },
  );
  return { attached, left };
}

const paper = (number: number): Delivery => ({
  type: "envelope",
  id: `delivery-${number}`,
  handoff_id: "handoff",
  envelope: "…",
  received_at: {},
});

test("31: an agent that never reads is disconnected with 413, and is sent no more", async () => {
  let heard = 0;
  const { attached, left } = attach(() => heard++);
  for (let number = 0; number < 5_000; number++) attached.deliver(paper(number));
  await expect(attached.closed).resolves.toMatchObject({ status: 413, code: "TOO_LARGE" });
  expect(heard).toBe(4_096);
  expect(left).toEqual(["owner"]);
  attached.heartbeat("handoff", 1);
  expect(attached.room).toBe(0);
});

test("an inbox waits for a slow reader, and is released when that one is gone", async () => {
  const { attached } = attach(() => undefined);
  for (let number = 0; number < 256; number++) attached.deliver(paper(number));
  const order: string[] = [];
  const ready = attached.ready().then(() => order.push("ready"));
  for (let number = 0; number < 128; number++) attached.seen(`delivery-${number}`);
  order.push("half");
  attached.seen("delivery-128");
  await ready;
  expect(order).toEqual(["half", "ready"]);
  for (let number = 1_000; number < 1_200; number++) attached.deliver(paper(number));
  const never = attached.ready();
  await attached.close();
  await never;
  await expect(attached.closed).resolves.toBeUndefined();
});

const heavy = (number: number, characters: number): Delivery => ({
  ...(paper(number) as Extract<Delivery, { type: "envelope" }>),
  envelope: "x".repeat(characters),
});

test("31: an agent that leaves too much unread is disconnected, however few the deliveries are", async () => {
  const { attached } = attach(() => undefined);
  for (let number = 0; number < 100; number++) attached.deliver(heavy(number, 1_000_000));
  await expect(attached.closed).resolves.toMatchObject({ status: 413 });
  expect(attached.unseenCharacters).toBe(0);
});

test("an inbox waits for an agent with much to read, and continues after its acknowledgement", async () => {
  const { attached } = attach(() => undefined);
  for (let number = 0; number < 5; number++) attached.deliver(heavy(number, 1_000_000));
  let isReady = false;
  const ready = attached.ready().then(() => (isReady = true));
  attached.seen("delivery-0");
  await Promise.resolve();
  expect(isReady).toBe(false);
  for (let number = 1; number < 5; number++) attached.seen(`delivery-${number}`);
  await ready;
  // A repeated delivery weighs as much as once.
  attached.deliver(heavy(9, 10));
  attached.deliver(heavy(9, 10));
  expect(attached.unseenCharacters).toBe(10);
});

test("31: of all agents with much unread the one with the most is disconnected", async () => {
  const all = new Map<string, AgentSession>();
  const unseen = new UnacknowledgedDeliveries(10_000, all);
  const [light, large] = ["light", "large"].map((agent) => {
    const { attached } = attach(
      () => undefined,
      (more) => unseen.hold(more),
    );
    all.set(agent, attached);
    return attached;
  });
  light!.deliver(heavy(1, 3_000));
  large!.deliver(heavy(1, 6_000));
  light!.deliver(heavy(2, 2_000));
  await expect(large!.closed).resolves.toMatchObject({ status: 413 });
  expect(light!.isOpen).toBe(true);
  light!.deliver(heavy(3, 4_000));
  expect(light!.isOpen).toBe(true);
});

test("reading from a connection pauses while very many of its frames are under way", async () => {
  const settle: (() => void)[] = [];
  const { attached } = attach(
    () => undefined,
    () => undefined,
    () => new Promise<void>((resolve) => settle.push(resolve)),
  );
  for (let count = 0; count < 1_024; count++) attached.heartbeat("handoff", 1);
  expect(attached.framesProcessed()).toBeUndefined();
  attached.heartbeat("handoff", 1);
  const taken = attached.framesProcessed();
  expect(taken).toBeDefined();
  for (const each of settle) each();
  await taken;
  expect(attached.framesProcessed()).toBeUndefined();
});

test("an agent with many unacknowledged deliveries is offered nothing more until they arrive", () => {
  let asked = 0;
  const { attached } = attach(
    () => undefined,
    undefined,
    undefined,
    () => asked++,
  );
  expect(attached.room).toBe(1);
  for (let number = 0; number < 5; number++) attached.deliver(heavy(number, 1_000_000));
  expect(attached.room).toBe(0);
  attached.seen("delivery-0");
  expect([attached.room, asked]).toEqual([1, 1]);
  attached.seen("delivery-1");
  expect(asked).toBe(1);
});

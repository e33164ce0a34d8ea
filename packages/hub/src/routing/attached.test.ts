import { expect, test } from "vitest";
import type { Delivery } from "../hub-api.ts";
import { Attached } from "./attached.ts";

function attach(handler: (delivery: Delivery) => void): {
  attached: Attached;
  left: string[];
} {
  const left: string[] = [];
  const attached = new Attached(
    { agent: "owner", credit: 1, instance: "one" },
    handler,
    { now: () => 0, setTimer: () => () => undefined },
    { frame: () => undefined, hasRoom: () => undefined, left: ({ agent }) => left.push(agent) },
  );
  return { attached, left };
}

const paper = (number: number): Delivery => ({
  type: "envelope",
  id: `delivery-${number}`,
  handoffId: "handoff",
  envelope: "…",
  receivedAt: {},
});

test("31: who never reads is cut off with 413, and is sent no more", async () => {
  let heard = 0;
  const { attached, left } = attach(() => heard++);
  for (let number = 0; number < 5_000; number++) attached.deliver(paper(number));
  await expect(attached.closed).resolves.toMatchObject({ status: 413, code: "TOO_LARGE" });
  expect(heard).toBe(4_096);
  expect(left).toEqual(["owner"]);
  attached.heartbeat("handoff", 1);
  expect(attached.room).toBe(0);
});

test("an inbox waits for who reads slowly, and is let go on when that one is gone", async () => {
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

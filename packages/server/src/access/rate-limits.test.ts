import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Budgets } from "../budgets.ts";
import { RateLimits } from "./rate-limits.ts";
import type { Arrival } from "./rate-limits.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

function opened(limits: ConstructorParameters<typeof Budgets>[0]) {
  const budgets = new Budgets(limits);
  return { budgets, tolls: new RateLimits(budgets) };
}

const from = (address: string, bytes: number): Arrival => ({
  address,
  bytes,
  isSigned: false,
  isTrusted: false,
});
const refusedAs = (status: number) => expect.objectContaining({ status });

test("strangers pay for what they send before it is read, each address separately", () => {
  const { tolls, budgets } = opened({ bytesPerAddress: 10, burstBytesPerAddress: 100 });
  tolls.enter(from("a", 60));
  expect(() => tolls.enter(from("a", 60))).toThrow(refusedAs(301));
  tolls.enter(from("b", 60));
  vi.advanceTimersByTime(2_000);
  tolls.enter(from("a", 60));
  expect(budgets.hitsOf("bytesPerAddress")).toBe(1);
});

test("all strangers together have one budget too", () => {
  const { tolls } = opened({ strangerBytesPerHub: 1, strangerBurstBytesPerHub: 100 });
  tolls.enter(from("a", 60));
  expect(() => tolls.enter(from("b", 60))).toThrow(refusedAs(301));
  const requests = opened({ strangerRequestsPerHub: 1, strangerBurstPerHub: 2 });
  requests.tolls.enter(from("a", 0));
  requests.tolls.enter(from("b", 0));
  expect(() => requests.tolls.enter(from("c", 0))).toThrow(refusedAs(301));
});

test("an agent that has authenticated pays itself, and its address is refunded", () => {
  const { tolls } = opened({
    requestsPerAddress: 1,
    burstPerAddress: 1,
    bytesPerAddress: 1,
    burstBytesPerAddress: 60,
    bytesPerAgent: 1,
    burstBytesPerAgent: 100,
  });
  tolls.pay(tolls.enter(from("a", 60)), "anna");
  const second = tolls.enter(from("a", 60));
  expect(() => tolls.pay(second, "anna")).toThrow(refusedAs(301));
  tolls.pay(tolls.enter(from("a", 60)), "bert");
  tolls.forget(tolls.enter(from("a", 60)));
  tolls.enter(from("a", 60));
});

test("an invalid signature costs its address as much as many valid ones, and costs nobody else", () => {
  const { tolls } = opened({ requestsPerAddress: 1, burstPerAddress: 30, requestsPerFailure: 20 });
  tolls.enter(from("a", 0));
  tolls.fail("a");
  for (let count = 0; count < 9; count++) tolls.enter(from("a", 0));
  expect(() => tolls.enter(from("a", 0))).toThrow(refusedAs(301));
  tolls.fail("a");
  vi.advanceTimersByTime(10_000);
  expect(() => tolls.enter(from("a", 0))).toThrow(refusedAs(301));
  vi.advanceTimersByTime(11_000);
  tolls.enter(from("a", 0));
  tolls.enter(from("b", 0));
});

test("a request larger than the whole budget waits until that is full, and then causes a long wait", () => {
  const { tolls } = opened({ bytesPerAddress: 10, burstBytesPerAddress: 100 });
  tolls.enter(from("a", 150));
  expect(() => tolls.enter(from("a", 1))).toThrow(refusedAs(301));
  vi.advanceTimersByTime(5_100);
  tolls.enter(from("a", 1));
});

test("signed requests cost their address no bytes, and nothing at all on an authenticated connection", () => {
  const { tolls } = opened({ burstPerAddress: 1, requestsPerAddress: 1, burstBytesPerAddress: 10 });
  tolls.enter({ ...from("a", 1_000), isSigned: true });
  expect(() => tolls.enter({ ...from("a", 1), isSigned: true })).toThrow(refusedAs(301));
  tolls.enter({ ...from("a", 1_000), isSigned: true, isTrusted: true });
});

test("40: manifests cost their address more than other bodies, whoever signs them", () => {
  const { tolls, budgets } = opened({
    manifestBytesPerAddress: 10,
    manifestBurstPerAddress: 100,
    manifestBytesPerHub: 1,
    manifestBurstPerHub: 150,
  });
  tolls.publish("a", 100);
  expect(() => tolls.publish("a", 1)).toThrow(refusedAs(301));
  tolls.publish("b", 50);
  expect(() => tolls.publish("c", 50)).toThrow(refusedAs(301));
  expect(budgets.hitsOf("manifestBytesPerAddress")).toBe(1);
  expect(budgets.hitsOf("manifestBytesPerHub")).toBe(1);
  vi.advanceTimersByTime(60_000);
  tolls.publish("c", 50);
});

test("attachments of an agent are limited, and a false claim of its name does not count against it", () => {
  const { tolls } = opened({ attachmentsPerAgent: 60, attachmentBurstPerAgent: 2 });
  for (let claim = 0; claim < 10; claim++) tolls.attaching("anna");
  tolls.attached("anna");
  tolls.attached("anna");
  expect(() => tolls.attaching("anna")).toThrow(refusedAs(301));
  tolls.attaching("bert");
  vi.advanceTimersByTime(1_000);
  tolls.attaching("anna");
});

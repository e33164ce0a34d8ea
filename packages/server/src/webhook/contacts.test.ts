import { expect, test } from "vitest";
import { Budgets } from "../budgets.ts";
import type { ServedLimits } from "../budgets.ts";
import { Contacts } from "./contacts.ts";

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const INBOX = "https://inbox.example/of/anna";

function opened(limits: Partial<ServedLimits> = {}): Contacts {
  return new Contacts(new Budgets(limits));
}

function fail(contacts: Contacts, agent: string, inbox: string, now: number): void {
  contacts.begin(agent, inbox, now).failed(now);
}

test("an inbox that has failed is not contacted before its time, whatever is published", () => {
  const contacts = opened({ webhookWaitMs: 1_000 });
  expect(contacts.waitMs("anna", INBOX, NOW)).toBe(0);
  fail(contacts, "anna", INBOX, NOW);
  for (let count = 0; count < 100; count++) {
    expect(contacts.waitMs("anna", INBOX, NOW + 400)).toBe(600);
  }
  // Naming another inbox in between does not reset it either.
  expect(contacts.waitMs("anna", "https://other.example/", NOW + 400)).toBe(0);
  fail(contacts, "anna", "https://other.example/", NOW + 400);
  expect(contacts.waitMs("anna", INBOX, NOW + 400)).toBe(600);
  expect(contacts.waitMs("anna", INBOX, NOW + 1_000)).toBe(0);
  fail(contacts, "anna", INBOX, NOW + 1_000);
  expect(contacts.waitMs("anna", INBOX, NOW + 1_000)).toBe(2_000);
});

test("an inbox that has never echoed is retried up to once an hour, one that is down up to once a minute", () => {
  const contacts = opened();
  const never = "https://never.example/";
  contacts.begin("anna", INBOX, NOW).echoed();
  let at = NOW;
  for (let count = 0; count < 30; count++) {
    at += 2 * HOUR;
    for (const inbox of [INBOX, never]) fail(contacts, "anna", inbox, at);
  }
  expect(contacts.waitMs("anna", INBOX, at)).toBe(60_000);
  expect(contacts.waitMs("anna", never, at)).toBe(HOUR);
});

test("one agent may name a few invalid inboxes, and then one at a time", () => {
  const contacts = opened({ probesPerAgent: 2, probeBurstPerAgent: 3 });
  for (let count = 0; count < 3; count++) {
    const inbox = `https://victim-${count}.example/`;
    expect(contacts.waitMs("anna", inbox, NOW)).toBe(0);
    fail(contacts, "anna", inbox, NOW);
  }
  expect(contacts.waitMs("anna", "https://fourth.example/", NOW)).toBe(30_000);
  expect(contacts.waitMs("bert", "https://fourth.example/", NOW)).toBe(0);
});

test("a host is contacted only a few times, however many agents name it, at any port and path", () => {
  const contacts = opened({ probesPerHost: 6, probeBurstPerHost: 4 });
  for (let count = 0; count < 4; count++) {
    const inbox = `https://VICTIM.example.:${1_000 + count}/${count}`;
    expect(contacts.waitMs(`agent-${count}`, inbox, NOW)).toBe(0);
    fail(contacts, `agent-${count}`, inbox, NOW);
  }
  expect(contacts.waitMs("another", "https://victim.example/", NOW)).toBe(10_000);
  expect(contacts.waitMs("another", "https://other.example/", NOW)).toBe(0);
});

test("an address is contacted only a few times, however many names resolve to it", () => {
  const contacts = opened({ probesPerHost: 6, probeBurstPerHost: 4 });
  const asked = Array.from({ length: 6 }, (_, index) => {
    const contact = contacts.begin(`agent-${index}`, `https://n${index}.victim.example/`, NOW);
    const refusal = contact.admits("192.0.2.1");
    contact.failed(NOW);
    return refusal?.status ?? 200;
  });
  expect(asked).toEqual([200, 200, 200, 200, 301, 301]);
  const direct = contacts.begin("anna", "https://192.0.2.9/", NOW);
  expect(direct.admits("192.0.2.9")).toBeUndefined();
});

test("all challenges to unverified inboxes together are bounded", () => {
  const contacts = opened({ probesPerHub: 60, probeBurstPerHub: 5 });
  for (let count = 0; count < 5; count++) {
    fail(contacts, `agent-${count}`, `https://host-${count}.example/`, NOW);
  }
  expect(contacts.waitMs("another", "https://another.example/", NOW)).toBe(1_000);
});

test("an inbox that echoes is free: a host may have any number of them", () => {
  const contacts = opened({ probeBurstPerHost: 1, probeBurstPerAgent: 1, probeBurstPerHub: 1 });
  for (let count = 0; count < 50; count++) {
    const inbox = `https://inbox.example/${count}`;
    expect(contacts.waitMs(`agent-${count}`, inbox, NOW)).toBe(0);
    const contact = contacts.begin(`agent-${count}`, inbox, NOW);
    expect(contact.admits("192.0.2.1")).toBeUndefined();
    contact.echoed();
  }
});

test("an inbox that echoes and takes nothing is retried with growing delays", () => {
  const contacts = opened({ webhookWaitMs: 1_000 });
  const waits: number[] = [];
  for (let count = 0; count < 3; count++) {
    const contact = contacts.begin("anna", INBOX, NOW);
    contact.echoed();
    contact.failed(NOW);
    waits.push(contacts.waitMs("anna", INBOX, NOW));
  }
  expect(waits).toEqual([1_000, 2_000, 4_000]);
  const contact = contacts.begin("anna", INBOX, NOW);
  contact.echoed();
  contact.delivered();
  contact.failed(NOW);
  expect(contacts.waitMs("anna", INBOX, NOW)).toBe(1_000);
});

import { deepEqual, equal } from "node:assert/strict";
import type { StoredHandoff } from "@waybill/hub/store";
import type { Cases } from "../case.ts";
import { commitAll, idsOf, isListing, isQueue } from "../case.ts";
import { commitOf, idOf, sampleHandoff } from "../sample.ts";

// In another order than that of their ids, in which they are listed.
const NUMBERS = [4, 1, 5, 3, 2];
const all = (members: (number: number) => Partial<StoredHandoff>) =>
  NUMBERS.map((number) => commitOf(sampleHandoff(number, members(number))));
const next = (number: number, members: Partial<StoredHandoff> = {}) =>
  commitOf(sampleHandoff(number, { version: 2, ...members }));

const isOdd = (number: number) => number % 2 === 1;
const sortedIds = (handoffs: readonly StoredHandoff[]) => idsOf(handoffs).toSorted();
const ODD = [1, 3, 5].map(idOf);

export const findingCases: Cases = {
  "due handoffs are listed earliest first, and by id at the same time": async ({ store }) => {
    const times: Record<number, number> = { 1: 300, 2: 100, 3: 200, 4: 100, 5: 400 };
    await commitAll(
      store,
      all((number) => ({ wakeAt: times[number]! })),
    );
    deepEqual(idsOf(await store.due(1000, 10)), [2, 4, 3, 1, 5].map(idOf));
  },

  "handoffs are due at or before now, and the limit holds": async ({ store }) => {
    await commitAll(
      store,
      all((number) => ({ wakeAt: number === 5 ? null : number * 100 })),
    );
    deepEqual(idsOf(await store.due(99, 10)), []);
    deepEqual(idsOf(await store.due(200, 10)), [1, 2].map(idOf));
    deepEqual(idsOf(await store.due(1000, 3)), [1, 2, 3].map(idOf));
  },

  "a handoff whose due time was changed or removed is not due at the old one": async ({
    store,
  }) => {
    await commitAll(
      store,
      all((number) => ({ wakeAt: number * 100 })),
    );
    await commitAll(store, [next(1, { wakeAt: null }), next(5, { wakeAt: 900 })]);
    deepEqual(idsOf(await store.due(800, 10)), [2, 3, 4].map(idOf));
    deepEqual(idsOf(await store.due(901, 10)), [2, 3, 4, 5].map(idOf));
  },

  "the next time to wake is the earliest of all": async ({ store }) => {
    equal(await store.nextWakeAt(), null);
    await commitAll(
      store,
      all((number) => ({ wakeAt: isOdd(number) ? number * 100 : null })),
    );
    equal(await store.nextWakeAt(), 100);
    await commitAll(store, [next(1), next(2, { wakeAt: 50 })]);
    equal(await store.nextWakeAt(), 50);
    await commitAll(store, [
      commitOf(sampleHandoff(2, { version: 3 })),
      next(3),
      next(5, { wakeAt: 700 }),
    ]);
    equal(await store.nextWakeAt(), 700);
  },

  "handoffs that wait for a target are listed by place, then by id": async ({ store }) => {
    const target = (number: number) => (isOdd(number) ? "agent:a" : "capability:a");
    await commitAll(
      store,
      all((number) => ({ waitsFor: target(number), waitsAt: number === 5 ? -70 : 1_000 })),
    );
    await isQueue((page) => store.waiting("agent:a", page), [5, 1, 3].map(idOf));
    await isQueue((page) => store.waiting("capability:a", page), [2, 4].map(idOf));
    await isQueue((page) => store.waiting("agent:b", page), []);
    await commitAll(store, [next(1, { waitsFor: "agent:a", waitsAt: -80 })]);
    await isQueue((page) => store.waiting("agent:a", page), [1, 5, 3].map(idOf));
  },

  "a handoff that waits no more, or for another target, is not listed": async ({ store }) => {
    await commitAll(
      store,
      all(() => ({ waitsFor: "agent:a" })),
    );
    await commitAll(store, [next(2), next(4, { waitsFor: "agent:b" })]);
    deepEqual(sortedIds(await store.waiting("agent:a", { limit: 10 })), ODD);
    deepEqual(sortedIds(await store.waiting("agent:b", { limit: 10 })), [idOf(4)]);
  },

  "an inbox is listed by id, for each agent that a handoff stands with": async ({ store }) => {
    const inboxes = (number: number) => (isOdd(number) ? ["editor", "researcher"] : ["editor"]);
    await commitAll(
      store,
      all((number) => ({ inboxes: inboxes(number) })),
    );
    await isListing((page) => store.inbox("editor", page), [1, 2, 3, 4, 5].map(idOf));
    await isListing((page) => store.inbox("researcher", page), ODD);
    await isListing((page) => store.inbox("stranger", page), []);
  },

  "handoffs that left an inbox do not displace others": async ({ store }) => {
    await commitAll(
      store,
      all(() => ({ inboxes: ["editor", "researcher"] })),
    );
    await commitAll(store, [
      next(2, { inboxes: ["editor"] }),
      next(4, { inboxes: ["editor", "reviewer"] }),
    ]);
    const list = async (agent: string) => sortedIds(await store.inbox(agent, { limit: 10 }));
    deepEqual(await list("editor"), [1, 2, 3, 4, 5].map(idOf));
    deepEqual(await list("researcher"), ODD);
    deepEqual(await list("reviewer"), [idOf(4)]);
  },

  "the handoffs of a job are listed by id": async ({ store }) => {
    const correlationId = (number: number) => idOf(isOdd(number) ? 71 : 72);
    await commitAll(
      store,
      all((number) => ({ correlationId: correlationId(number) })),
    );
    const ended = { correlationId: idOf(71), state: "completed" as const };
    await commitAll(store, [next(3, ended)]);
    await isListing((page) => store.correlated(idOf(71), page), ODD);
    await isListing((page) => store.correlated(idOf(73), page), []);
  },

  "the children of a handoff are listed by id": async ({ store }) => {
    await commitAll(
      store,
      all((number) => ({ parentId: isOdd(number) ? idOf(71) : null })),
    );
    await commitAll(store, [next(3, { parentId: idOf(71), state: "completed" })]);
    await isListing((page) => store.children(idOf(71), page), ODD);
    await isListing((page) => store.children(idOf(1), page), []);
  },

  "the members of a group are listed by id": async ({ store }) => {
    await commitAll(
      store,
      all((number) => ({ groupId: isOdd(number) ? "odd" : null })),
    );
    await commitAll(store, [next(3, { groupId: "odd", state: "completed" })]);
    await isListing((page) => store.group("editor", "odd", page), ODD);
    await isListing((page) => store.group("editor", "even", page), []);
  },

  "the handoffs of a session are listed, the newest first": async ({ store }) => {
    await commitAll(
      store,
      all((number) => ({ session: isOdd(number) ? "odd" : "even", sessionAt: 10 - number })),
    );
    const list = async (name: string, limit = 10) =>
      (await store.session(name, limit)).map(({ id }) => id);
    deepEqual(await list("odd"), ODD);
    deepEqual(await list("odd", 2), ODD.slice(0, 2));
    deepEqual(await list("none"), []);
    await commitAll(store, [next(5, { session: "odd", sessionAt: 20 })]);
    deepEqual(await list("odd"), [5, 1, 3].map(idOf));
    await commitAll(store, [next(3, { session: "odd", sessionAt: 20 })]);
    deepEqual(await list("odd"), [5, 3, 1].map(idOf));
  },

  "a handoff that left a session is not listed with it": async ({ store }) => {
    await commitAll(
      store,
      all(() => ({ session: "all", sessionAt: 7 })),
    );
    await commitAll(store, [next(2), next(4, { session: "other", sessionAt: 7 })]);
    const list = async (name: string) => sortedIds(await store.session(name, 10));
    deepEqual(await list("all"), ODD);
    deepEqual(await list("other"), [idOf(4)]);
  },

  "a group of another delegator is another group": async ({ store }) => {
    const delegator = (number: number) => (isOdd(number) ? "editor" : "researcher");
    await commitAll(
      store,
      all((number) => ({ groupId: "all", delegator: delegator(number) })),
    );
    await isListing((page) => store.group("editor", "all", page), ODD);
    await isListing((page) => store.group("researcher", "all", page), [2, 4].map(idOf));
    await isListing((page) => store.group("stranger", "all", page), []);
  },

  "dead letters are listed by id": async ({ store }) => {
    await commitAll(
      store,
      all((number) => ({ isDeadLetter: isOdd(number) })),
    );
    await isListing((page) => store.deadLetters(page), ODD);
  },

  "the dead letters of one delegator are listed by id": async ({ store }) => {
    const delegator = (number: number) => (isOdd(number) ? "editor" : "researcher");
    await commitAll(
      store,
      all((number) => ({ isDeadLetter: number !== 3, delegator: delegator(number) })),
    );
    await isListing((page) => store.deadLetters(page, "editor"), [1, 5].map(idOf));
    await isListing((page) => store.deadLetters(page, "researcher"), [2, 4].map(idOf));
    await isListing((page) => store.deadLetters(page, "stranger"), []);
  },

  "a dead letter that was handled is not listed": async ({ store }) => {
    await commitAll(
      store,
      all(() => ({ state: "dead_lettered", isDeadLetter: true })),
    );
    await commitAll(
      store,
      [2, 4].map((number) => next(number, { state: "dead_lettered" })),
    );
    deepEqual(sortedIds(await store.deadLetters({ limit: 10 })), ODD);
    deepEqual(sortedIds(await store.deadLetters({ limit: 10 }, "editor")), ODD);
  },
};

import { createHandoff, createReply, generateKey, newId, signEnvelope } from "@waybill/protocol";
import { digestOfJws, parseEnvelope, readCompact, signManifest } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import type { Delivery } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { commitEach, commitOne } from "../commit-each.ts";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { HubServer } from "../open-hub.ts";
import type { Commit, CommitOutcome, Store } from "../store.ts";

const owner = generateKey();
const worker = generateKey();
let hub: HubServer;

afterEach(() => hub.close());

/** A store's scripted answers to the commits of a handoff, in order; after them it commits. */
type Script = Map<string, ((commit: Commit) => Promise<CommitOutcome>)[]>;

interface Opened {
  readonly script: Script;
  readonly store: Store;
  readonly outcomes: CommitOutcome["type"][];
}

async function open(): Promise<Opened> {
  const script: Script = new Map();
  const outcomes: CommitOutcome["type"][] = [];
  const inner = memoryStore();
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === "commit") {
        return (group: readonly Commit[]) =>
          commitEach(group, async (commit) => {
            const answer = script.get(commit.handoff?.id ?? "")?.shift();
            const outcome = await (answer ?? ((each) => commitOne(target, each)))(commit);
            if (commit.handoff !== null) outcomes.push(outcome.type);
            return outcome;
          });
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  hub = await openHub({ store, key: generateKey() });
  await hub.publish(signManifest({ agent_id: "owner", capabilities: [] }, owner));
  await hub.publish(signManifest({ agent_id: "worker", capabilities: [{ name: "work" }] }, worker));
  return { script, store: inner, outcomes };
}

function handoffs(count: number): HandoffEnvelope[] {
  const { domain } = hub;
  const to = { capability: "work" };
  return Array.from({ length: count }, () =>
    createHandoff({ from: "owner", domain, to, body: { capability: "work" }, timeoutMs: 60_000 }),
  );
}

const send = (handoff: HandoffEnvelope) => hub.submit(signEnvelope(handoff, owner));

function receiptIsFor(receipt: string, handoff: HandoffEnvelope): boolean {
  const { handoff_id: id, body } = parseEnvelope(readCompact(receipt).payload);
  // A repetition would be answered with 201.
  return id === handoff.handoff_id && (body as { status?: number }).status === 100;
}

test("of the envelopes of one turn, only the one whose commit fails is refused", async () => {
  const { script } = await open();
  const sent = handoffs(3);
  script.set(sent[1]!.handoff_id, [() => Promise.reject(new Error("The disk is full."))]);
  const [first, second, third] = await Promise.allSettled(sent.map(send));
  expect(second).toMatchObject({ status: "rejected", reason: { message: "The disk is full." } });
  for (const [index, each] of [first, third].entries()) {
    if (each?.status !== "fulfilled") throw new Error("a neighbour was refused");
    expect(receiptIsFor(each.value, sent[index * 2]!)).toBe(true);
  }
});

test("of the envelopes of one turn, only the one with a conflict is decided again", async () => {
  const { script, outcomes } = await open();
  const sent = handoffs(3);
  script.set(sent[0]!.handoff_id, [() => Promise.resolve({ type: "conflict" })]);
  const receipts = await Promise.all(sent.map(send));
  expect(receipts.every((receipt, index) => receiptIsFor(receipt, sent[index]!))).toBe(true);
  expect(outcomes.toSorted()).toEqual(["committed", "committed", "committed", "conflict"]);
});

test("no envelope of a turn is answered before the turn is on disk, which does not hold up the next", async () => {
  const { script, store } = await open();
  const sent = handoffs(2);
  const isWriting = Promise.withResolvers<void>();
  const isReleased = Promise.withResolvers<void>();
  const slow = async (commit: Commit) => {
    isWriting.resolve();
    await isReleased.promise;
    return commitOne(store, commit);
  };
  script.set(sent[1]!.handoff_id, [slow]);
  let answered = 0;
  const receipts = sent.map((each) => send(each).finally(() => answered++));
  await isWriting.promise;
  await send(handoffs(1)[0]!);
  expect(answered).toBe(0);
  isReleased.resolve();
  for (const [index, receipt] of (await Promise.all(receipts)).entries()) {
    expect(receiptIsFor(receipt, sent[index]!)).toBe(true);
  }
});

test("two simultaneous envelopes of one handoff are decided one after the other", async () => {
  const { outcomes } = await open();
  const [handoff] = handoffs(1);
  const claim = { from: "worker", to: hub.id, domain: hub.domain, instance: "one", id: newId() };
  const proof = signHello({ ...claim, at: Date.now() }, worker);
  const { promise: offered, resolve } = Promise.withResolvers<Delivery>();
  await hub.attach({ agent: "worker", credit: 1, instance: "one", proof }, resolve);
  const text = signEnvelope(handoff!, owner);
  await hub.submit(text);
  await offered;
  const results = [1, 2].map((output) =>
    createReply(handoff!, {
      kind: "result",
      from: "worker",
      attempt: 1,
      re: digestOfJws(text),
      body: { status: 200, output },
    }),
  );
  const [first, second] = await Promise.allSettled(
    results.map((result) => hub.submit(signEnvelope(result, worker))),
  );
  expect(first).toMatchObject({ status: "fulfilled" });
  expect(second).toMatchObject({ reason: { status: 410 } });
  expect(outcomes).not.toContain("conflict");
});

test("of two simultaneous handoffs for one place of a group, one gets it", async () => {
  await open();
  const { domain } = hub;
  const group = { id: newId(), index: 0, size: 2, join: "all" } as const;
  const correlationId = newId();
  const outcomes = await Promise.allSettled(
    [1, 2].map((input) => {
      const body = { capability: "work", input };
      const to = { capability: "work" };
      return send(
        createHandoff({ from: "owner", domain, to, body, timeoutMs: 60_000, group, correlationId }),
      );
    }),
  );
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toMatchObject([{ reason: { status: 409 } }]);
});

import {
  createReply,
  digestOfJws,
  parseEnvelope,
  publicKeyFrom,
  readCompact,
  signEnvelope,
  verifyEnvelope,
} from "@waybill/protocol";
import type { HandoffEnvelope, ListedHandoff, ReceiptEnvelope } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { interceptedStore } from "../intercepted-store-fixture.ts";
import type { Through } from "../intercepted-store-fixture.ts";
import { ledgerHistory } from "../ledger-history.ts";
import { openHub } from "../open-hub.ts";
import type { Commit } from "../store.ts";
import { offersOf, World } from "../world-fixture.ts";
import type { AttachedMember, Member } from "../world-fixture.ts";

let world: World;
let owner: Member;
let worker: AttachedMember;
/** Decides about each commit; by default it is made. */
let through: Through;

beforeEach(async () => {
  through = (_, make) => make();
  world = await World.open({ store: interceptedStore((...given) => through(...given)) });
  owner = await world.publish("owner");
  await world.publish("away", [{ name: "work" }]);
  worker = await world.attach(await world.publish("worker", [{ name: "work" }]), 100);
});
afterEach(async () => {
  through = (_, make) => make();
  const history = await Array.fromAsync(ledgerHistory(world.store));
  expect(checkHistory(history, { hub: world.hub.id }).violations).toEqual([]);
  await world.hub.close();
});

interface Sent {
  readonly handoff: HandoffEnvelope;
  readonly text: string;
}

function handoffs(count: number, by: Member = owner, to = "away"): Sent[] {
  return Array.from({ length: count }, () => {
    const handoff = world.handoff(by.agent, { to });
    return { handoff, text: signEnvelope(handoff, by.key) };
  });
}

/** Submits all in one turn; returns the receipts. */
function together(sent: readonly Sent[], as = "owner", hub = world.hub): Promise<string[]> {
  return Promise.all(sent.map(({ text }) => hub.submit(text, as)));
}

/** A receipt of the hub, verified with its key. */
function read(text: string): ReceiptEnvelope {
  const key = publicKeyFrom(world.key.jwk);
  const keyOf = () => ({ agent: world.hub.id, key, notBefore: 0, notAfter: Infinity });
  const { envelope } = verifyEnvelope(text, { keyOf, at: world.clock.now() });
  expect(envelope).toMatchObject({ kind: "receipt", from: world.hub.id });
  return envelope as ReceiptEnvelope;
}

function namedIn(text: string): ListedHandoff[] {
  const { handoff_id, re, body } = read(text);
  return [{ handoff_id, re }, ...(body.also ?? [])];
}

const nameOf = ({ handoff, text }: Sent): ListedHandoff => ({
  handoff_id: handoff.handoff_id,
  re: digestOfJws(text),
});

/** A receipt of status 100 for this one and nothing else. */
function isAlone(receipt: string, sent: Sent): boolean {
  const [named, ...others] = namedIn(receipt);
  const { re, handoff_id: id } = nameOf(sent);
  const isFor = named!.re === re && named!.handoff_id === id;
  return isFor && others.length === 0 && read(receipt).body.status === 100;
}

async function receiptsOnRecord(): Promise<string[]> {
  const entries = await world.store.ledger({ limit: 1_000 });
  return entries.flatMap(({ type, content }) => {
    if (type !== "envelope") return [];
    const { kind, from } = parseEnvelope(readCompact(content).payload);
    return kind === "receipt" && from === world.hub.id ? [content] : [];
  });
}

const isFor = (sent: Sent | undefined, { handoff }: Commit) =>
  sent !== undefined && handoff?.id === sent.handoff.handoff_id;
const isShared = ({ dependsOn, handoff }: Commit) => handoff === null || dependsOn !== undefined;

test("the envelopes of an agent in one turn get one receipt, which names each", async () => {
  const sent = handoffs(3);
  const [first, ...others] = await together(sent);
  expect(others).toEqual([first, first]);
  expect(read(first!)).toMatchObject({ to: "owner", body: { status: 100 } });
  expect(namedIn(first!)).toEqual(sent.map(nameOf));
  expect(await receiptsOnRecord()).toEqual([first]);
});

test("a lone envelope keeps its lone receipt, in the history of its handoff", async () => {
  const [sent] = handoffs(1);
  const [receipt] = await together([sent!]);
  expect(isAlone(receipt!, sent!)).toBe(true);
  const history = await world.store.ledgerOf(sent!.handoff.handoff_id, { limit: 10 });
  expect(history.map(({ content }) => content)).toContain(receipt);
});

test("results share a receipt like handoffs", async () => {
  const sent = handoffs(2, owner, "worker");
  await together(sent);
  const results = offersOf(worker).map((offer) =>
    signEnvelope(world.reply("result", worker, offer, { status: 200, output: 1 }), worker.key),
  );
  const [first, second] = await Promise.all(
    results.map((text) => world.hub.submit(text, "worker")),
  );
  expect(second).toBe(first);
  expect(read(first!).to).toBe("worker");
  expect(namedIn(first!).map(({ re }) => re)).toEqual(results.map(digestOfJws));
});

test("two agents in one turn get a receipt each", async () => {
  const other = await world.publish("other");
  const [ours, theirs] = [handoffs(2), handoffs(2, other)];
  const [receipts, foreign] = await Promise.all([together(ours), together(theirs, "other")]);
  expect(namedIn(receipts[0]!)).toEqual(ours.map(nameOf));
  expect(namedIn(foreign[0]!)).toEqual(theirs.map(nameOf));
  expect(read(foreign[0]!).to).toBe("other");
});

test.each([["nobody", undefined] as const, ["somebody else", "worker"] as const])(
  "the envelopes that %s carries for their sender get a receipt each",
  async (_, as) => {
    const sent = handoffs(2);
    const receipts = await Promise.all(sent.map(({ text }) => world.hub.submit(text, as)));
    expect(receipts.map((receipt, index) => isAlone(receipt, sent[index]!))).toEqual([true, true]);
  },
);

test("a receipt for several is in the history of no handoff", async () => {
  const sent = handoffs(2);
  const [receipt] = await together(sent);
  for (const [index, { handoff }] of sent.entries()) {
    const history = await world.hub.operator.history(handoff.handoff_id, { limit: 100 });
    const contents = history.map(({ content }) => content);
    expect(contents).not.toContain(receipt);
    const other = sent[1 - index]!.handoff.handoff_id;
    const payloads = history.map(({ type, content }) =>
      type === "envelope" ? readCompact(content).payload : content,
    );
    expect(payloads.filter((payload) => payload.includes(other))).toEqual([]);
  }
});

test("if the commit of one conflicts, no receipt names it before it is taken", async () => {
  const sent = handoffs(3);
  let isLate = false;
  through = (commit, make) => {
    if (!isFor(sent[1], commit) || isLate) return make();
    isLate = true;
    return Promise.resolve({ type: "conflict" });
  };
  const receipts = await together(sent);
  expect(receipts.map((receipt, index) => isAlone(receipt, sent[index]!))).toEqual([
    true,
    true,
    true,
  ]);
  expect((await receiptsOnRecord()).toSorted()).toEqual(receipts.toSorted());
});

test("if one is refused, the others get their receipts", async () => {
  const sent = handoffs(3);
  through = (commit, make) =>
    isFor(sent[0], commit) ? Promise.reject(new Error("no space left")) : make();
  const [first, ...others] = await Promise.allSettled(
    sent.map(({ text }) => world.hub.submit(text, "owner")),
  );
  expect(first).toMatchObject({ status: "rejected", reason: { message: "no space left" } });
  for (const [index, each] of others.entries()) {
    if (each.status !== "fulfilled") throw new Error("a neighbour was refused");
    expect(isAlone(each.value, sent[index + 1]!)).toBe(true);
  }
  expect((await receiptsOnRecord()).flatMap(namedIn)).not.toContainEqual(nameOf(sent[0]!));
});

test("a repetition in the turn is answered 201, and the others get their receipts", async () => {
  const [known, ...fresh] = handoffs(3);
  await together([known!]);
  // A hub that has not read what another one has stored.
  const other = await openHub({ store: world.store, key: world.key, clock: world.clock });
  const [repeated, ...receipts] = await together([known!, ...fresh], "owner", other);
  expect(read(repeated!).body).toEqual({ status: 201 });
  expect(namedIn(repeated!)).toEqual([nameOf(known!)]);
  expect(receipts.map((receipt, index) => isAlone(receipt, fresh[index]!))).toEqual([true, true]);
  await other.close();
});

test("an envelope whose receipt was lost gets one of its own", async () => {
  const sent = handoffs(2);
  const [lost] = await together(sent);
  const [again] = await together(sent.slice(1));
  expect(again).not.toBe(lost);
  expect(read(again!).body).toEqual({ status: 201 });
  expect(namedIn(again!)).toEqual([nameOf(sent[1]!)]);
  expect(await together(sent.slice(1))).toEqual([again]);
});

test("a receipt for several waits for the commit of all that it names", async () => {
  const sent = handoffs(2);
  const isWriting = Promise.withResolvers<void>();
  const isReleased = Promise.withResolvers<void>();
  through = async (commit, make) => {
    if (isFor(sent[1], commit)) {
      isWriting.resolve();
      await isReleased.promise;
    }
    return make();
  };
  let answered = 0;
  const receipts = sent.map(({ text }) =>
    world.hub.submit(text, "owner").finally(() => answered++),
  );
  await isWriting.promise;
  expect(answered).toBe(0);
  isReleased.resolve();
  expect(new Set(await Promise.all(receipts)).size).toBe(1);
});

test("a receipt of its own for each, if the common one is not written", async () => {
  const sent = handoffs(2);
  let isFirst = true;
  through = (commit, make) => {
    if (!isShared(commit) || !isFirst) return make();
    isFirst = false;
    return Promise.reject(new Error("no space left"));
  };
  const receipts = await together(sent);
  expect(receipts.map((receipt, index) => isAlone(receipt, sent[index]!))).toEqual([true, true]);
  expect(await together(sent)).toEqual(receipts);
});

describe("after a crash", () => {
  test.each([1, 2, 3, 4, 5, 6])(
    "at commit %i, each envelope is repeated and gets a receipt, and counts once",
    async (failing) => {
      const sent = handoffs(3);
      let count = 0;
      through = (_, make) =>
        ++count >= failing ? Promise.reject(new Error("no space left")) : make();
      await Promise.allSettled(sent.map(({ text }) => world.hub.submit(text, "owner")));
      through = (_, make) => make();
      world = await world.restarted();
      const receipts = await together(sent);
      for (const [index, receipt] of receipts.entries()) {
        expect(namedIn(receipt)).toContainEqual(nameOf(sent[index]!));
        const { handoff_id: id } = sent[index]!.handoff;
        const history = await world.store.ledgerOf(id, { limit: 100 });
        const envelopes = history.filter(({ content }) => content === sent[index]!.text);
        expect(envelopes).toHaveLength(1);
      }
    },
  );
});

test("a party can't send a receipt for several as if it were the hub", async () => {
  const sent = handoffs(2, owner, "worker");
  await together(sent);
  const ends: ListedHandoff[] = [];
  for (const offer of offersOf(worker)) {
    const result = world.reply("result", worker, offer, { status: 200, output: 1 });
    const text = signEnvelope(result, worker.key);
    await world.hub.submit(text);
    ends.push({ handoff_id: offer.handoff_id, re: digestOfJws(text) });
  }
  const [{ re }, ...also] = ends as [ListedHandoff, ...ListedHandoff[]];
  const to = world.hub.id;
  const forged = createReply(sent[0]!.handoff, {
    kind: "receipt",
    from: "owner",
    to,
    re,
    body: { status: 100, also },
  });
  const submitting = world.hub.submit(
    signEnvelope({ ...forged, handoff_id: ends[0]!.handoff_id }, owner.key),
  );
  await expect(submitting).rejects.toMatchObject({ status: 403 });
});

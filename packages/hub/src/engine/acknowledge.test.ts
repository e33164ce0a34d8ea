import {
  createReply,
  digestOfJws,
  newId,
  parseEnvelope,
  readCompact,
  signEnvelope,
} from "@waybill/protocol";
import type { Digest, HandoffEnvelope, ReceiptBody, ReceiptEnvelope } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { interceptedStore } from "../intercepted-store-fixture.ts";
import type { Through } from "../intercepted-store-fixture.ts";
import { ledgerHistory } from "../ledger-history.ts";
import { openHub } from "../open-hub.ts";
import type { LedgerEntry } from "../store.ts";
import { offersOf, settled, World } from "../world-fixture.ts";
import type { AttachedMember, Member } from "../world-fixture.ts";

interface Ended {
  readonly handoff: HandoffEnvelope;
  readonly re: Digest;
}

const STRANGE: Digest = `sha256:${"0".repeat(64)}`;

let world: World;
let owner: AttachedMember;
let worker: AttachedMember;
/** Decides about each commit; by default it is made. */
let through: Through;

beforeEach(async () => {
  through = (_, make) => make();
  world = await World.open({ store: interceptedStore((...given) => through(...given)) });
  owner = await world.attach(await world.publish("owner"));
  await world.publish("away", [{ name: "work" }]);
  worker = await world.attach(await world.publish("worker", [{ name: "work" }]), 10);
});
afterEach(async () => {
  through = (_, make) => make();
  const history = await Array.fromAsync(ledgerHistory(world.store));
  expect(checkHistory(history, { hub: world.hub.id }).violations).toEqual([]);
  await world.hub.close();
});

async function ended(by: Member = owner): Promise<Ended> {
  const handoff = await world.handOff(by);
  return { handoff, re: await completed() };
}

/** The worker has completed what it was offered last; returns the digest of the result. */
async function completed(): Promise<Digest> {
  const offer = offersOf(worker).at(-1)!;
  const result = world.reply("result", worker, offer, { status: 200, output: "done" });
  const text = signEnvelope(result, worker.key);
  await world.hub.submit(text);
  return digestOfJws(text);
}

function listOf(
  [first, ...others]: readonly Ended[],
  { from = "owner", to = world.hub.id }: { readonly from?: string; readonly to?: string } = {},
): ReceiptEnvelope {
  const also = others.map(({ handoff, re }) => ({ handoff_id: handoff.handoff_id, re }));
  const input = { kind: "receipt", from, to, re: first!.re, body: { status: 200, also } } as const;
  return createReply(first!.handoff, input, { now: () => world.clock.now(), newId: () => newId() });
}

/** The body of the hub's receipt. */
async function answerTo(list: ReceiptEnvelope, by: Member = owner): Promise<ReceiptBody> {
  const receipt = parseEnvelope(readCompact(await world.submit(list, by.key)).payload);
  expect(receipt).toMatchObject({ kind: "receipt", to: by.agent, from: world.hub.id });
  return (receipt as ReceiptEnvelope).body;
}

async function areAcknowledged(...all: readonly Ended[]): Promise<boolean[]> {
  const views = all.map(({ handoff }) => world.hub.operator.handoff(handoff.handoff_id, undefined));
  return (await Promise.all(views)).map((view) => view!.isAcknowledged);
}

async function entriesSince(sequence: number) {
  return world.store.ledger({ after: sequence, limit: 100 });
}

function isReceiptOfOwner({ type, content }: LedgerEntry): boolean {
  if (type !== "envelope") return false;
  const { kind, from } = parseEnvelope(readCompact(content).payload);
  return kind === "receipt" && from === "owner";
}

async function end(): Promise<number> {
  return (await world.store.ledgerHead()).sequence;
}

test("one envelope acknowledges several handoffs, and gets one receipt", async () => {
  const all = [await ended(), await ended(), await ended()];
  const before = await end();
  expect(await answerTo(listOf(all))).toEqual({ status: 100 });
  expect(await areAcknowledged(...all)).toEqual([true, true, true]);
  const types = (await entriesSince(before)).map(({ type }) => type);
  expect(types).toEqual(["envelope", "decision", "decision", "decision", "envelope"]);
  const again = await world.attach(owner, 1, "two");
  expect(again.deliveries).toEqual([]);
});

test("a handoff that can't be acknowledged is refused in the receipt, and affects no other", async () => {
  const stranger = await world.publish("stranger");
  const [one, two] = [await ended(), await ended()];
  const foreign = await ended(stranger);
  const unknown = { handoff: { ...one.handoff, handoff_id: newId() }, re: one.re };
  const open = { handoff: await world.handOff(owner, { to: "away" }), re: one.re };
  const other = { ...(await ended()), re: STRANGE };
  const listed = [open, one, foreign, unknown, other, two];
  expect(await answerTo(listOf(listed))).toEqual({
    status: 100,
    refused: [
      { handoff_id: open.handoff.handoff_id, status: 403 },
      { handoff_id: foreign.handoff.handoff_id, status: 403 },
      { handoff_id: unknown.handoff.handoff_id, status: 403 },
      { handoff_id: other.handoff.handoff_id, status: 409 },
    ],
  });
  expect(await areAcknowledged(one, two)).toEqual([true, true]);
  expect(await areAcknowledged(foreign, open, other)).toEqual([false, false, false]);
});

test("a dead letter is acknowledged with its notice, and with nothing else", async () => {
  const one = await ended();
  const late = await world.handOff(owner, { to: "away", timeoutMs: 1_000 });
  await world.pass(2_000);
  const delivered = owner.deliveries.flatMap((each) =>
    each.type === "envelope" && each.handoff_id === late.handoff_id ? [each.envelope] : [],
  );
  const notice = { handoff: late, re: digestOfJws(delivered.at(-1)!) };
  const wrong = await answerTo(listOf([one, { ...notice, re: STRANGE }]));
  expect(wrong.refused).toEqual([{ handoff_id: late.handoff_id, status: 409 }]);
  expect(await answerTo(listOf([notice, await ended()]))).toEqual({ status: 100 });
  expect(await areAcknowledged(notice)).toEqual([true]);
});

test("a list of which everything is refused is refused, and leaves no entry", async () => {
  const stranger = await world.publish("stranger");
  const all = [await ended(), await ended()];
  const before = await end();
  const list = listOf(all, { from: "stranger" });
  await expect(world.submit(list, stranger.key)).rejects.toMatchObject({ status: 403 });
  const misaddressed = listOf(all, { to: "worker" });
  await expect(world.submit(misaddressed, owner.key)).rejects.toMatchObject({ status: 403 });
  expect(await end()).toBe(before);
  expect(await areAcknowledged(...all)).toEqual([false, false]);
});

test("a list about another's handoff is refused, whatever else it names", async () => {
  const stranger = await world.publish("stranger");
  const [own, foreign] = [await ended(), await ended(stranger)];
  const unknown = { ...own, handoff: { ...own.handoff, handoff_id: newId() } };
  const before = await end();
  for (const first of [foreign, unknown]) {
    const list = listOf([first, own]);
    await expect(world.submit(list, owner.key)).rejects.toMatchObject({ status: 403 });
  }
  const elsewhere = { ...listOf([own, await ended()]), correlation_id: newId() };
  await expect(world.submit(elsewhere, owner.key)).rejects.toMatchObject({ status: 400 });
  expect(await areAcknowledged(own, foreign)).toEqual([false, false]);
  expect((await entriesSince(before)).filter(isReceiptOfOwner)).toEqual([]);
});

test("the histories of the handoffs do not name each other", async () => {
  const all = [await ended(), await ended()];
  await answerTo(listOf(all));
  for (const [index, { handoff }] of all.entries()) {
    const history = await world.hub.operator.history(handoff.handoff_id, { limit: 100 });
    const texts = history.map(({ type, content }) =>
      type === "envelope" ? readCompact(content).payload : content,
    );
    expect(texts.filter((text) => text.includes('"acknowledge"'))).toHaveLength(1);
    const other = all[1 - index]!;
    expect(texts.filter((text) => text.includes(other.handoff.handoff_id))).toEqual([]);
    expect(texts.filter((text) => text.includes(other.re))).toEqual([]);
  }
});

test("a repetition is answered 201, and changes nothing", async () => {
  const all = [await ended(), await ended()];
  const text = signEnvelope(listOf(all), owner.key);
  await Promise.all([world.hub.submit(text), world.hub.submit(text)]);
  const before = await end();
  const again = await world.hub.submit(text);
  expect(parseEnvelope(readCompact(again).payload).body).toEqual({ status: 201 });
  expect(await world.hub.submit(text)).toBe(again);
  expect(await end()).toBe(before);
});

test("a hub that does not know of the ends yet reads them from the store", async () => {
  const deaf = new Proxy(world.store, {
    get(store, name) {
      if (name === "onCommit") return () => () => undefined;
      const value: unknown = Reflect.get(store, name);
      return typeof value === "function" ? (value.bind(store) as unknown) : value;
    },
  });
  const other = await openHub({ store: deaf, key: world.key, clock: world.clock });
  const all: Ended[] = [];
  for (let count = 0; count < 2; count++) {
    const handoff = world.handoff("owner", { to: "worker" });
    await other.submit(signEnvelope(handoff, owner.key));
    await settled();
    all.push({ handoff, re: await completed() });
  }
  const receipt = await other.submit(signEnvelope(listOf(all), owner.key));
  expect(parseEnvelope(readCompact(receipt).payload).body).toEqual({ status: 100 });
  expect(await areAcknowledged(...all)).toEqual([true, true]);
  await other.close();
});

test("what was acknowledged alone is not refused in a list", async () => {
  const all = [await ended(), await ended()];
  const [first] = all as [Ended, Ended];
  const input = { kind: "receipt", from: "owner", to: world.hub.id, re: first.re } as const;
  await world.submit(createReply(first.handoff, { ...input, body: { status: 200 } }), owner.key);
  expect(await answerTo(listOf(all))).toEqual({ status: 100 });
  expect(await answerTo(listOf(all))).toEqual({ status: 201 });
});

test("another list under the same id is refused with 409", async () => {
  const all = [await ended(), await ended()];
  const list = listOf(all);
  await answerTo(list);
  const other = { ...listOf([...all, await ended()]), id: list.id };
  await expect(world.submit(other, owner.key)).rejects.toMatchObject({ status: 409 });
});

test.each([1, 2, 3, 4])(
  "a list is completed by its repetition if the store fails at commit %i",
  async (failing) => {
    const all = [await ended(), await ended()];
    const text = signEnvelope(listOf(all), owner.key);
    let count = 0;
    through = (_, make) =>
      ++count === failing ? Promise.reject(new Error("no space left")) : make();
    await expect(world.hub.submit(text)).rejects.toThrow("no space left");
    through = (_, make) => make();
    const receipt = parseEnvelope(readCompact(await world.hub.submit(text)).payload);
    expect(receipt.body).toEqual({ status: failing === 1 ? 100 : 201 });
    expect(await areAcknowledged(...all)).toEqual([true, true]);
  },
);

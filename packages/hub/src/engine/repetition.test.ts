import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  newId,
  parseEnvelope,
  readCompact,
  signCompact,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import type { Digest, HandoffEnvelope, PrivateKey } from "@waybill/protocol";
import { signCompactBatch } from "@waybill/protocol/hub";
import { signHello } from "@waybill/protocol/wire";
import type { Delivery } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { HubServer } from "../open-hub.ts";
import { countedStore } from "../registry/counted-store-fixture.ts";
import type { CountedStore } from "../registry/counted-store-fixture.ts";

const HISTORY = 300;
/** How much one repetition may read: the entry that answers it, and what identifies it as a repetition. */
const READS = 8;
const CHARACTERS = 10_000;

const hubKey = generateKey();
let counted: CountedStore;
let hub: HubServer;
let worker: PrivateKey;
let owner: PrivateKey;
/** The digest of the handoff. */
let re: Digest;
let handoffPayload: string;

beforeEach(async () => {
  counted = countedStore(memoryStore());
  hub = await openHub({ store: counted.store, key: hubKey });
  owner = await publish("owner", "none");
  worker = await publish("worker", "work");
});
afterEach(() => hub.close());

async function publish(agent: string, capability: string): Promise<PrivateKey> {
  const key = generateKey();
  const capabilities = [{ name: capability }];
  await hub.publish(signManifest({ agent_id: agent, capabilities }, key));
  return key;
}

/** A handoff that the worker has accepted. */
async function accepted(): Promise<HandoffEnvelope> {
  const { id: to, domain } = hub;
  const claim = { from: "worker", to, domain, instance: "one", id: newId(), at: Date.now() };
  const request = { agent: "worker", credit: 1, instance: "one", proof: signHello(claim, worker) };
  const offer = Promise.withResolvers<Delivery>();
  await hub.attach(request, (delivery) => {
    if (delivery.type === "offer") offer.resolve(delivery);
  });
  const envelope = createHandoff({
    from: "owner",
    to: "worker",
    domain,
    body: { capability: "work" },
    timeoutMs: 600_000,
  });
  const text = signEnvelope(envelope, owner);
  re = digestOfJws(text);
  handoffPayload = readCompact(text).payload;
  await hub.submit(text);
  await offer.promise;
  await hub.submit(
    signEnvelope(
      createReply(envelope, {
        kind: "receipt",
        from: "worker",
        attempt: 1,
        re,
        body: { status: 101 },
      }),
      worker,
    ),
  );
  return envelope;
}

function progress(handoff: HandoffEnvelope): string {
  const body = { fraction: 0.5 };
  return signEnvelope(
    createReply(handoff, { kind: "progress", from: "worker", attempt: 1, re, body }),
    worker,
  );
}

function result(handoff: HandoffEnvelope): string {
  const body = { status: 200, output: "done" } as const;
  return signEnvelope(
    createReply(handoff, { kind: "result", from: "worker", attempt: 1, re, body }),
    worker,
  );
}

async function report(handoff: HandoffEnvelope, count: number): Promise<string[]> {
  const sent = Array.from({ length: count }, () => progress(handoff));
  for (const each of sent) await hub.submit(each);
  return sent;
}

function expectFewReads(): void {
  const reads = (["handoff", "seen", "ledger", "ledgerOf", "envelope"] as const).map((name) =>
    counted.calls(name),
  );
  expect(reads.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(READS);
  expect(counted.characters()).toBeLessThanOrEqual(CHARACTERS);
}

test("39: a repeated envelope costs the same however long the history of its handoff is", async () => {
  const handoff = await accepted();
  const sent = await report(handoff, HISTORY);
  const firsts: string[] = [];
  for (const each of [sent[0]!, sent[HISTORY / 2]!, sent.at(-1)!]) {
    counted.reset();
    firsts.push(await hub.submit(each));
    expectFewReads();
    counted.reset();
    expect(await hub.submit(each)).toBe(firsts.at(-1));
    expectFewReads();
  }
  expect(new Set(firsts).size).toBe(3);
  const [answer] = firsts.map((text) => parseEnvelope(readCompact(text).payload));
  expect(answer).toMatchObject({
    kind: "receipt",
    re: digestOfJws(sent[0]!),
    body: { status: 201 },
  });
});

/** The same texts, signed alone and with others. */
function bothWays(handoff: HandoffEnvelope): [alone: string, inBatch: string] {
  const { payload } = readCompact(progress(handoff));
  return [signCompact(payload, worker), signCompactBatch([payload, payload], worker)[1]!];
}

test("an envelope that was signed with others is a repetition when it comes alone, and the other way round", async () => {
  const handoff = await accepted();
  const [alone, inBatch] = bothWays(handoff);
  const [first, second] = bothWays(handoff).toReversed();
  for (const [one, other] of [
    [inBatch, alone],
    [second!, first!],
  ] as const) {
    await hub.submit(one);
    const again = parseEnvelope(readCompact(await hub.submit(other)).payload);
    expect(again).toMatchObject({ kind: "receipt", re: digestOfJws(one), body: { status: 201 } });
  }
  const text = signCompactBatch([handoffPayload, "{}"], owner)[0]!;
  const receipt = parseEnvelope(readCompact(await hub.submit(text)).payload);
  expect(receipt).toMatchObject({ kind: "receipt", re, body: { status: 201 } });
});

test("a known digest with a bad signature gets neither the receipt of its original nor a conflict", async () => {
  const handoff = await accepted();
  const [alone, inBatch] = bothWays(handoff);
  const receipt = await hub.submit(alone);
  const [header, payload, signature] = alone.split(".") as [string, string, string];
  const ofAnother = signCompact("{}", worker).split(".")[2]!;
  const byAnother = signCompact(readCompact(alone).payload, owner).split(".")[2]!;
  const place = Math.floor(signature.length / 2);
  const flipped = `${signature.slice(0, place)}${signature[place] === "A" ? "B" : "A"}${signature.slice(place + 1)}`;
  const batchPart = inBatch.split(".")[2]!;
  const copies = [ofAnother, byAnother, flipped].map((each) => `${header}.${payload}.${each}`);
  copies.push(inBatch.replace(batchPart, signCompactBatch(["1", "2"], worker)[1]!.split(".")[2]!));
  for (const copy of copies) {
    expect(digestOfJws(copy)).toBe(digestOfJws(alone));
    await expect(hub.submit(copy)).rejects.toMatchObject({ status: 401 });
  }
  expect(await hub.submit(alone)).not.toBe(receipt);
  expect(parseEnvelope(readCompact(await hub.submit(alone)).payload)).toMatchObject({
    body: { status: 201 },
  });
});

test("39: a late envelope sent again gets the answer that it got first, however long the history has become", async () => {
  const handoff = await accepted();
  await report(handoff, HISTORY);
  const ending = result(handoff);
  await hub.submit(ending);
  const late = progress(handoff);
  const answer = await hub.submit(late).catch((error: unknown) => error);
  expect(answer).toMatchObject({ status: 410 });
  counted.reset();
  const again = await hub.submit(late).catch((error: unknown) => error);
  expect(again).toMatchObject({ status: 410, message: (answer as Error).message });
  expectFewReads();
  expect(parseEnvelope(readCompact(await hub.submit(ending)).payload)).toMatchObject({
    body: { status: 201 },
  });
});

test("a repetition gets the same answer from the next hub over the store", async () => {
  const handoff = await accepted();
  const [sent] = await report(handoff, 1);
  const first = await hub.submit(sent!);
  await hub.close();
  hub = await openHub({ store: counted.store, key: hubKey });
  expect(await hub.submit(sent!)).toBe(first);
});

test("two hubs with one key that get a repetition at once record one answer", async () => {
  const handoff = await accepted();
  const [sent] = await report(handoff, 1);
  const other = await openHub({ store: counted.store, key: hubKey });
  const answers = await Promise.all([hub.submit(sent!), other.submit(sent!)]);
  await other.close();
  expect(answers[0]).toBe(answers[1]);
});

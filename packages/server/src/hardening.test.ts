/// <reference types="node" />
import { gzipSync } from "node:zlib";
import { memoryStore, openHub } from "@waybill/hub";
import {
  createHandoff,
  createReply,
  digestOf,
  digestOfJws,
  generateKey,
  keyring,
  newId,
  provenKey,
  signEnvelope,
  signManifest,
  verifyEnvelope,
  verifyManifest,
} from "@waybill/protocol";
import type { Envelope, HandoffEnvelope } from "@waybill/protocol";
import { newOperatorToken, operatorTokenDomain } from "@waybill/protocol/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  base64url,
  manifestWithKey,
  partsOf,
  payloadOf,
  rawAsk,
  rawBytes,
  sealed,
  WEAK_KEYS,
  withHeader,
  withLargeS,
  withR,
} from "./hardening-fixture.ts";
import { serveHub } from "./serve-hub.ts";
import { ask, asOperator, openWorld, Party, Wire } from "./served-fixture.ts";
import type { Answer, Signed, World } from "./served-fixture.ts";

let world: World;
let owner: Party;
let worker: Party;
let stranger: Party;

beforeAll(async () => {
  world = await openWorld({
    hub: { limits: { fanOut: 3 } },
    // All tests here attach the same few agents.
    serve: { limits: { attachmentBurstPerAgent: 10_000 } },
  });
  owner = await world.party("owner");
  worker = await world.party("worker", [{ name: "work" }]);
  stranger = await world.party("stranger");
});

afterAll(() => world.close());

const DAY = 86_400_000;
const time = (ms: number) => new Date(Date.now() + ms).toISOString();

/** The status of the table in an answer, or 200 for a success. */
function statusOf({ status, json }: Answer): number {
  return json.waybill_status ?? (status === 204 ? 200 : status);
}

async function submitted(text: string): Promise<number> {
  const answer = await ask(`${world.url}/v1/envelopes`, { body: { envelope: text } });
  const over = statusOf(answer);
  // Over a socket it is the same hub with the same answer.
  const wire = await owner.attach(0);
  const { problem } = await wire.call("submit", { envelope: text });
  const status = (problem as { waybill_status: number } | undefined)?.waybill_status ?? 200;
  await wire.close();
  if (over !== 200) expect(status).toBe(over);
  return over;
}

function published(id: string, manifest: string): Promise<Answer> {
  return ask(`${world.url}/v1/agents/${encodeURIComponent(id)}`, {
    method: "PUT",
    body: { manifest },
  });
}

/** An open handoff that the worker holds. */
async function underWay(over: Parameters<Party["handoff"]>[1] = {}): Promise<Signed> {
  const wire = await worker.attach();
  const handoff = owner.handoff("worker", over);
  expect(statusOf(await owner.submit(handoff.text))).toBe(200);
  await wire.delivery("offer");
  expect(statusOf(await worker.submit(worker.accept(handoff)))).toBe(200);
  await wire.close();
  return handoff;
}

function payload(over: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...payloadOf(owner.handoff("worker").text), ...over };
}

const sign = (envelope: Envelope, party: Party): string => signEnvelope(envelope, party.key);

function reply(
  handoff: Signed,
  by: Party,
  input: { kind: string; [member: string]: unknown },
): string {
  return sign(createReply(handoff.envelope, { from: by.id, ...input } as never), by);
}

const resultBy = (party: Party, handoff: Signed, attempt = 1) =>
  reply(handoff, party, {
    kind: "result",
    attempt,
    re: digestOfJws(handoff.text),
    body: { status: 200, output: 1 },
  });

const cancelBy = (party: Party, handoff: Signed) =>
  reply(handoff, party, { kind: "cancel", to: "worker", body: {} });

describe("identity", () => {
  test.each(WEAK_KEYS)("1 and 3: the key %s is 401 at enrolment", async (hex) => {
    expect(statusOf(await published("weak", manifestWithKey("weak", hex)))).toBe(401);
    expect(statusOf(await ask(`${world.url}/v1/agents/weak`))).toBe(404);
  });

  test("2 and 3: another S or R for the same message is 401", async () => {
    const { text } = owner.handoff("worker");
    expect(await submitted(withLargeS(text))).toBe(401);
    for (const hex of WEAK_KEYS) expect(await submitted(withR(text, hex))).toBe(401);
    expect(await submitted(text)).toBe(200);
  });

  test("4: an envelope that is signed as one kind never passes for another", async () => {
    const manifest = signManifest({ agent_id: "owner", capabilities: [] }, owner.key);
    const envelope = owner.handoff("worker").text;
    const request = owner.proof("/v1/inbox?instance=i", "GET").split(" ")[1]!;
    const hello = owner.hello(undefined);
    for (const text of [manifest, request, hello]) expect(await submitted(text)).toBe(400);
    for (const text of [envelope, request, hello]) {
      expect(statusOf(await published("owner", text))).toBe(400);
    }
    for (const text of [envelope, manifest, hello]) {
      const headers = { authorization: `Waybill ${text}` };
      expect(statusOf(await ask(`${world.url}/v1/inbox?instance=i`, { headers }))).toBe(401);
    }
    for (const proof of [envelope, manifest, request]) {
      const wire = await Wire.open(world.url);
      await wire.next("challenge");
      wire.say({ type: "hello", proof, credit: 1 });
      expect((await wire.next("closed")).problem.waybill_status).toBe(400);
    }
  });

  test("5: a proof for another hub, path, method or body is 401", async () => {
    const path = `/v1/handoffs/${newId()}`;
    expect(statusOf(await owner.ask(path))).toBe(404);
    for (const over of [
      { to: "another-hub" },
      { path: `${path}/history` },
      { method: "POST" },
      { bodyDigest: digestOf("") },
      { from: "worker" },
      { key: generateKey() },
    ]) {
      expect(statusOf(await owner.ask(path, {}, over)), JSON.stringify(over)).toBe(401);
    }
    const body = { instance: "i", credit: 1 };
    const signed = JSON.stringify({ instance: "i", credit: 2 });
    const headers = { authorization: owner.proof("/v1/inbox", "POST", signed) };
    expect(statusOf(await ask(`${world.url}/v1/inbox`, { body, headers }))).toBe(401);
    const bare = { authorization: owner.proof("/v1/inbox", "POST") };
    expect(statusOf(await ask(`${world.url}/v1/inbox`, { body, headers: bare }))).toBe(401);

    const other = new Party("owner", owner.key, world.url, { ...world.hub, id: "another-hub" });
    const wire = await Wire.open(world.url);
    const { nonce } = await wire.next("challenge");
    wire.say({ type: "hello", proof: other.hello(nonce), credit: 1 });
    expect((await wire.next("closed")).problem.waybill_status).toBe(401);
  });

  test("6: a proof that is expired, from the future, or valid for too long is 401", async () => {
    const issued_at = time(-10_000);
    for (const [over, status] of [
      [{ issued_at: time(120_000), deadline: time(180_000) }, 401],
      [{ deadline: time(400 * DAY) }, 401],
      [{ issued_at, deadline: time(-5_000) }, 504],
      [{ issued_at, deadline: issued_at }, 400],
    ] as const) {
      expect(await submitted(sealed(payload(over), owner.key))).toBe(status);
    }
    for (const at of [Date.now() - 61_000, Date.now() + 61_000]) {
      expect(statusOf(await owner.ask(`/v1/handoffs/${newId()}`, {}, { at }))).toBeOneOf([
        401, 503,
      ]);
    }
  });

  test("7: a replayed proof is refused, before and after a restart", async () => {
    const store = memoryStore();
    const key = generateKey();
    const first = await openHub({ store, key });
    const served = await serveHub({ hub: first, store });
    const party = new Party("owner", generateKey(), served.url, first);
    await party.publish([{ name: "work" }]);
    const { text } = party.handoff("owner");
    const receipts = [await party.submit(text), await party.submit(text)];
    expect(receipts.map(statusOf)).toEqual([200, 200]);
    const path = `/v1/handoffs/${newId()}`;
    const authorization = party.proof(path, "GET");
    const replay = async (url: string) =>
      statusOf(await ask(url + path, { headers: { authorization } }));
    expect(await replay(served.url)).toBe(404);
    expect(await replay(served.url)).toBe(401);
    const wire = await Wire.open(served.url);
    const { nonce } = await wire.next("challenge");
    const proof = party.hello(nonce);
    wire.say({ type: "hello", proof, credit: 1 });
    await wire.next("attached");
    await served.close();
    await first.close();
    const before = await store.ledgerHead();

    const second = await openHub({ store, key });
    const again = await serveHub({ hub: second, store });
    const later = new Party("owner", party.key, again.url, second);
    expect((await later.submit(text)).json).toEqual(receipts[1]!.json);
    expect(await store.ledgerHead()).toEqual(before);
    // It has forgotten which proofs were used, so it accepts none from before the restart.
    expect(await replay(again.url)).toBe(503);
    const used = await Wire.open(again.url);
    await used.next("challenge");
    used.say({ type: "hello", proof, credit: 1 });
    expect((await used.next("closed")).problem.waybill_status).toBe(401);
    await again.close();
    await second.close();
  });

  test("8: the same id with another body is 409", async () => {
    const { envelope, text } = owner.handoff("worker");
    expect(await submitted(text)).toBe(200);
    const body = { capability: "work", input: "other" };
    expect(await submitted(sign({ ...envelope, body }, owner))).toBe(409);
    expect(await submitted(sign({ ...envelope, id: newId(), body }, owner))).toBe(409);
  });

  test("9: a retired key signs nothing new, and its earlier signatures stay valid", async () => {
    const party = await world.party("rotating", [{ name: "work" }]);
    const old = party.handoff("worker");
    expect(await submitted(old.text)).toBe(200);
    const next = generateKey();
    const url = `${world.url}/.well-known/waybill/agents/rotating`;
    const { manifests } = (await ask(url)).json as never as { manifests: { manifest: string }[] };
    const update = signManifest(
      {
        agent_id: "rotating",
        capabilities: [],
        keys: [provenKey("rotating", next)],
        sequence: 2,
        previous: digestOfJws(manifests[0]!.manifest),
      },
      party.key,
    );
    expect(statusOf(await published("rotating", update))).toBe(200);
    expect(await submitted(party.handoff("worker").text)).toBe(401);
    expect(statusOf(await party.ask(`/v1/handoffs/${newId()}`))).toBe(401);
    const wire = await Wire.open(world.url);
    const { nonce } = await wire.next("challenge");
    wire.say({ type: "hello", proof: party.hello(nonce), credit: 1 });
    expect((await wire.next("closed")).problem.waybill_status).toBe(401);

    const rotated = new Party("rotating", next, world.url, world.hub);
    const path = `/v1/handoffs/${old.envelope.handoff_id}`;
    const history = (await rotated.ask(`${path}/history`)).json as never as {
      entries: { content: string; at: string; type: string; from: string }[];
    };
    const entry = history.entries.find(({ content }) => content === old.text)!;
    const chain = (await ask(url)).json as never as {
      manifests: { manifest: string; at: string }[];
    };
    const verified = chain.manifests.reduce<ReturnType<typeof verifyManifest>[]>(
      (before, { manifest, at }) => [
        ...before,
        verifyManifest(manifest, { previous: before.at(-1), at: Date.parse(at) }),
      ],
      [],
    );
    const { keyOf } = keyring(verified);
    expect(verifyEnvelope(entry.content, { keyOf, at: Date.parse(entry.at) }).kid).toBe(
      party.key.kid,
    );
    expect(() => verifyEnvelope(entry.content, { keyOf, at: Date.now() + 1 })).toThrow("retired");
  });

  test("10: a manifest of an older sequence is 409", async () => {
    const party = new Party("rolling", generateKey(), world.url, world.hub);
    const first = signManifest({ agent_id: "rolling", capabilities: [] }, party.key);
    const base = { agent_id: "rolling", capabilities: [{ name: "x" }], keys: [party.key.jwk] };
    const second = signManifest({ ...base, sequence: 2, previous: digestOfJws(first) }, party.key);
    expect(statusOf(await published("rolling", first))).toBe(200);
    expect(statusOf(await published("rolling", second))).toBe(200);
    expect(statusOf(await published("rolling", first))).toBe(409);
    const other = signManifest({ ...base, version: "1" }, party.key);
    expect(statusOf(await published("rolling", other))).toBe(409);
    const skipped = signManifest(
      { ...base, sequence: 4, previous: digestOfJws(second) },
      party.key,
    );
    expect(statusOf(await published("rolling", skipped))).toBe(409);
  });

  test("49: only the holder of a key can list it, and its owner is admitted", async () => {
    const [key, spare, squatters] = [generateKey(), generateKey(), generateKey()];
    const squat = (id: string, ...keys: object[]) =>
      sealed(
        { waybill: 1, kind: "manifest", agent_id: id, capabilities: [], keys, sequence: 1 },
        squatters,
      );
    const { proof } = provenKey("victim", spare);
    for (const stolen of [
      key.jwk,
      { ...spare.jwk, proof },
      { ...key.jwk, proof: provenKey("squatter", squatters).proof },
    ]) {
      const manifest = squat("squatter", squatters.jwk, stolen);
      expect(statusOf(await published("squatter", manifest))).toBe(401);
      expect(statusOf(await ask(`${world.url}/v1/agents/squatter`))).toBe(404);
    }
    const keys = [key.jwk, { ...spare.jwk, proof }];
    const own = signManifest({ agent_id: "victim", capabilities: [], keys }, key);
    expect(statusOf(await published("victim", own))).toBe(200);
  });

  test.each(["Owner", "\u043ewner", "owner.", "ow\u200bner", "OWNER", "owner\u0301", ".owner"])(
    "11: there is no agent %j",
    async (id) => {
      const key = generateKey();
      const text = {
        waybill: 1,
        kind: "manifest",
        agent_id: id,
        capabilities: [],
        keys: [key.jwk],
      };
      expect(statusOf(await published(id, sealed(text, key)))).toBe(400);
      const manifest = signManifest({ agent_id: "owner", capabilities: [] }, key);
      expect(statusOf(await published(id, manifest))).toBe(400);
      expect(await submitted(sealed(payload({ from: id }), owner.key))).toBe(400);
    },
  );

  test("12: a re-encoded envelope is refused", async () => {
    const { text } = owner.handoff("worker");
    const [header, body, signature] = partsOf(text);
    const spaced = base64url(JSON.stringify(payloadOf(text), undefined, 1));
    expect(await submitted(`${header}.${spaced}.${signature}`)).toBe(401);
    for (const other of [
      `${header}.${body}=.${signature}`,
      `${header}.${body}.${signature}=`,
      ` ${text}`,
      `${text}\n`,
      `${header}.${body}.${signature.replaceAll("-", "+").replaceAll("_", "/")}=`,
    ]) {
      expect(await submitted(other)).toBe(400);
    }
  });

  test("13: every other header is 400", async () => {
    const { kid } = owner.key;
    const typ = "waybill+jws";
    for (const header of [
      { alg: "none", kid, typ },
      { alg: "HS256", kid, typ },
      { alg: "EdDSA", kid, typ },
      { alg: "Ed25519", kid },
      { alg: "Ed25519", typ },
      { alg: "Ed25519", kid, typ, crit: ["exp"] },
      { alg: "Ed25519", kid, typ, jwk: owner.key.jwk },
      { alg: "Ed25519", kid, typ, jku: "https://example.com" },
      { kid, alg: "Ed25519", typ },
    ]) {
      const text = withHeader(JSON.stringify(header), payload(), owner.key);
      expect(await submitted(text)).toBe(400);
      const headers = { authorization: `Waybill ${text}` };
      expect(statusOf(await ask(`${world.url}/v1/inbox?instance=i`, { headers }))).toBe(401);
    }
  });
});

describe("state", () => {
  test("14: a result from an agent that does not hold the attempt is 403", async () => {
    const handoff = await underWay();
    expect(await submitted(resultBy(stranger, handoff))).toBe(403);
    expect(await submitted(resultBy(owner, handoff))).toBe(403);
    expect(await submitted(resultBy(worker, handoff, 2))).toBe(403);
    expect(await submitted(resultBy(worker, handoff))).toBe(200);
  });

  test("15 and 20: knowing an id gives no access", async () => {
    const handoff = await underWay();
    const { handoff_id: id, correlation_id: job } = handoff.envelope;
    expect(statusOf(await stranger.ask(`/v1/handoffs/${id}`))).toBe(404);
    expect(statusOf(await stranger.ask(`/v1/handoffs/${id}/history`))).toBe(404);
    expect(statusOf(await ask(`${world.url}/v1/handoffs/${id}`))).toBe(401);
    const listed = await stranger.ask(`/v1/handoffs?correlation_id=${job}`);
    expect(listed.json).toEqual({ handoffs: [] });
    expect(await submitted(resultBy(stranger, handoff))).toBe(403);
    expect(await submitted(cancelBy(stranger, handoff))).toBe(403);
    const taken = stranger.handoff("worker", { handoffId: id });
    expect(await submitted(taken.text)).toBe(403);
    const wire = await stranger.attach(0);
    expect(await wire.call("handoff", { id })).toEqual({ handoff: null });
    await wire.close();
    for (const path of ["/v1/ledger", "/v1/ledger/checkpoint", "/v1/watch"]) {
      expect(statusOf(await stranger.ask(path)), path).toBe(403);
      expect(statusOf(await ask(world.url + path)), path).toBe(401);
    }
    const headers = asOperator(world.served, "/v1/ledger", {
      token: newOperatorToken(operatorTokenDomain(world.served.operatorToken)!),
    });
    expect(statusOf(await ask(`${world.url}/v1/ledger`, { headers }))).toBe(401);
    expect(await submitted(cancelBy(owner, handoff))).toBe(200);
  });

  test("16, 17 and 18: closed, cancelled, expired and ended handoffs do not change", async () => {
    const done = await underWay();
    expect(await submitted(resultBy(worker, done))).toBe(200);
    expect(await submitted(resultBy(worker, done))).toBe(410);
    expect(await submitted(worker.accept(done))).toBe(410);
    expect(await submitted(cancelBy(owner, done))).toBe(410);

    const cancelled = await underWay();
    expect(await submitted(cancelBy(owner, cancelled))).toBe(200);
    expect(await submitted(resultBy(worker, cancelled))).toBe(410);

    const ended = new Promise<void>((resolve) => {
      const stop = world.store.onCommit((stored) => {
        if (stored?.state !== "dead_lettered") return;
        stop();
        resolve();
      });
    });
    const expired = await underWay({ timeoutMs: 1_000 });
    await ended;
    expect(await submitted(resultBy(worker, expired))).toBe(410);
    const { handoff_id: id } = expired.envelope;
    const headers = asOperator(world.served, `/v1/dead-letters/${id}`);
    const shown = await ask(`${world.url}/v1/dead-letters/${id}`, { headers });
    expect(shown.json).toMatchObject({ id, status: 504, delegator: "owner" });
    expect(shown.text).toContain(expired.text);

    // 20: only its delegator and operators may do this.
    const path = `/v1/dead-letters/${id}`;
    expect(statusOf(await owner.ask(path))).toBe(200);
    expect(statusOf(await stranger.ask(path))).toBe(404);
    expect((await stranger.ask("/v1/dead-letters")).json).toEqual({ dead_letters: [] });
    const replay = stranger.handoff("worker", { replayOf: id });
    expect(
      statusOf(await stranger.ask(`${path}/replay`, { body: { envelope: replay.text } })),
    ).toBe(404);
    expect(await submitted(replay.text)).toBe(403);
    const discarded = await owner.ask(`${path}/discard`, { body: { reason: "old" } });
    expect(statusOf(discarded)).toBe(403);
    const own = owner.handoff("worker", { replayOf: id });
    expect(statusOf(await owner.ask(`${path}/replay`, { body: { envelope: own.text } }))).toBe(200);
    expect((await owner.ask("/v1/dead-letters")).json).toEqual({ dead_letters: [] });
  });

  test("19: an answer to a question that was not asked is 403, a second one 410", async () => {
    const handoff = await underWay();
    const answer = (id: string, value: string, re = digestOf("no question")) =>
      reply(handoff, owner, {
        kind: "answer",
        to: "worker",
        re,
        body: { question_id: id, answer: value },
      });
    expect(await submitted(answer("q", "x"))).toBe(403);
    const question = reply(handoff, worker, {
      kind: "question",
      attempt: 1,
      re: digestOfJws(handoff.text),
      body: { questions: [{ id: "q" }] },
    });
    expect(await submitted(question)).toBe(200);
    expect(await submitted(answer("q", "first", digestOfJws(question)))).toBe(200);
    expect(await submitted(answer("q", "second", digestOfJws(question)))).toBe(410);
    expect(await submitted(resultBy(worker, handoff))).toBe(200);
  });

  test("52: a parent_id reveals neither whether a handoff exists nor how many children it has", async () => {
    const parent = await underWay();
    const child = (by: Party, id: string) =>
      sign(
        createHandoff({
          from: by.id,
          domain: world.hub.domain,
          to: "worker",
          body: { capability: "work" },
          parent: { ...parent.envelope, handoff_id: id },
        }),
        by,
      );
    const told = async (by: Party, id: string) => {
      const { status, json } = await by.submit(child(by, id));
      return [status, json.waybill_status, JSON.stringify(json).replaceAll(id, "<id>")];
    };
    const unknown = await told(stranger, newId());
    expect(unknown.slice(0, 2)).toEqual([403, 403]);
    // All the children that it may have: a holder would be told so.
    const { handoff_id: id } = parent.envelope;
    for (const status of [200, 200, 200, 413]) {
      expect(statusOf(await worker.submit(child(worker, id)))).toBe(status);
    }
    expect(await told(stranger, id)).toEqual(unknown);
    // Its delegator knows it, and does not work on it either.
    expect(await told(owner, id)).toEqual(await told(owner, newId()));
    expect(await submitted(cancelBy(owner, parent))).toBe(200);
    expect(await told(stranger, id)).toEqual(unknown);
  });

  test("20: an agent can't take another's inbox", async () => {
    const thief = new Party("owner", stranger.key, world.url, world.hub);
    expect(statusOf(await thief.poll({ wait_seconds: 0 }))).toBe(401);
    const wire = await Wire.open(world.url);
    const { nonce } = await wire.next("challenge");
    wire.say({ type: "hello", proof: thief.hello(nonce), credit: 1 });
    expect((await wire.next("closed")).problem.waybill_status).toBe(401);
    expect(statusOf(await ask(`${world.url}/v1/inbox?instance=i`))).toBe(401);
    const headers = asOperator(world.served, "/v1/inbox?instance=i");
    expect(statusOf(await ask(`${world.url}/v1/inbox?instance=i`, { headers }))).toBe(403);
  });
});

/** JSON that two readers may interpret differently, or that could crash a reader. */
const BAD_JSON: readonly (readonly [number, string, (inside: string) => string, number])[] = [
  [21, "a member twice", (inside) => `{${inside},"x":1,"x":2}`, 400],
  [21, "a member twice, once in escapes", (inside) => `{${inside},"x":1,"\\u0078":2}`, 400],
  [22, "__proto__", (inside) => `{${inside},"__proto__":{"a":1}}`, 400],
  [22, "constructor, deeper", (inside) => `{${inside},"x":[{"constructor":1}]}`, 400],
  [22, "prototype in escapes", (inside) => `{${inside},"x":{"proto\\u0074ype":1}}`, 400],
  [23, "depth", (inside) => `{${inside},"x":${"[".repeat(300_000)}${"]".repeat(300_000)}}`, 413],
  [25, "an integer over 2^53", (inside) => `{${inside},"x":9007199254740993}`, 400],
  [25, "1e400", (inside) => `{${inside},"x":1e400}`, 400],
  [25, "half a surrogate pair", (inside) => `{${inside},"x":"\\ud800"}`, 400],
  [25, "NUL", (inside) => `{${inside},"x":"\\u0000"}`, 400],
  [25, "no JSON", (inside) => `{${inside},}`, 400],
];

describe("parsing", () => {
  test.each(BAD_JSON)("%i: %s is refused in every place", async (_item, _what, spell, status) => {
    const { text } = owner.handoff("worker");
    const inside = JSON.stringify(payloadOf(text)).slice(1, -1);
    expect(await submitted(sealed(spell(inside), owner.key))).toBe(status);
    const body = spell(`"envelope":"${text}"`);
    expect(statusOf(await ask(`${world.url}/v1/envelopes`, { body }))).toBe(status);
    const manifest = spell(
      `"waybill":1,"kind":"manifest","agent_id":"owner","capabilities":[],"keys":[]`,
    );
    expect(statusOf(await published("owner", sealed(manifest, owner.key)))).toBe(status);
    const wire = await owner.attach(0);
    wire.socket.send(spell(`"type":"call","number":1,"call":"submit","params":{"envelope":"x"}`));
    expect((await wire.next("closed")).problem.waybill_status).toBe(status);
    await wire.closed;
  });

  test("25: bytes that are not UTF-8 are 400", async () => {
    const body = Buffer.from([...Buffer.from('{"envelope":"'), 0xff, ...Buffer.from('"}')]);
    const headers = { "content-type": "application/json" };
    const answer = await rawAsk(world.url, {
      method: "POST",
      path: "/v1/envelopes",
      headers,
      body,
    });
    expect(JSON.parse(answer.text)).toMatchObject({ waybill_status: 400 });
  });

  test("24: a body over the limit is 413, with or without a stated length", async () => {
    const body = `{"envelope":"${"x".repeat(1_100_000)}"}`;
    const headers = { "content-type": "application/json" };
    for (const isChunked of [false, true]) {
      const answer = await rawAsk(world.url, {
        method: "POST",
        path: "/v1/envelopes",
        headers,
        body,
        isChunked,
      });
      expect(JSON.parse(answer.text)).toMatchObject({ waybill_status: 413 });
    }
    const wire = await owner.attach(0);
    wire.socket.send(JSON.stringify({ type: "call", number: 1, params: { x: body + body } }));
    // The WebSocket's own close code: the message was not read.
    expect(await wire.closed).toBe(1009);
  });

  test("24: compressed bodies are 400, and compressed messages are not negotiated", async () => {
    const body = gzipSync(JSON.stringify({ envelope: "x".repeat(1_000_000) }));
    for (const encoding of ["gzip", "br", "deflate", "gzip, gzip"]) {
      const answer = await rawAsk(world.url, {
        method: "POST",
        path: "/v1/envelopes",
        headers: { "content-type": "application/json", "content-encoding": encoding },
        body,
      });
      expect(JSON.parse(answer.text)).toMatchObject({ waybill_status: 400 });
    }
    const wire = await owner.attach(0);
    expect(wire.socket.extensions).toBe("");
    await wire.close();
  });

  test("24: other kinds of bodies are 400", async () => {
    for (const type of ["text/plain", "application/xml", "multipart/form-data; boundary=x", ""]) {
      const answer = await rawAsk(world.url, {
        method: "POST",
        path: "/v1/envelopes",
        headers: type === "" ? {} : { "content-type": type },
        body: '{"envelope":"x"}',
      });
      expect(JSON.parse(answer.text), type).toMatchObject({ waybill_status: 400 });
    }
  });

  test.each([
    [26, { $ref: "https://example.com/schema.json" }, 400],
    [26, { $ref: "#/$defs/missing" }, 400],
    [26, { $ref: "#" }, 400],
    [27, { type: "string", pattern: "^(?=a)b" }, 400],
    [27, { type: "string", pattern: "^(a)\\1$" }, 400],
    [
      28,
      {
        properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`p${i}`, true])),
      },
      413,
    ],
    [28, nested(40), 413],
  ])("%i: a hostile schema in a manifest is refused", async (_item, schema, status) => {
    // From a newcomer: its manifest is refused for nothing else.
    const key = generateKey();
    const manifest = {
      waybill: 1,
      kind: "manifest",
      agent_id: "hostile",
      capabilities: [{ name: "x", input_schema: schema }],
      keys: [key.jwk],
    };
    const text = JSON.stringify(manifest);
    if (text.length > 700_000) {
      expect(statusOf(await ask(`${world.url}/v1/envelopes`, { body: text }))).toBe(413);
    } else {
      expect(statusOf(await published("hostile", sealed(text, key)))).toBe(status);
    }
  });

  test("27 and 28: catastrophic patterns and unions cost no time, and are searched with 200", async () => {
    const slow = { type: "string", pattern: "^(a+)+$" };
    const union = { anyOf: Array.from({ length: 20 }, () => ({ anyOf: [slow, slow, slow] })) };
    await world.party("patterns", [
      { name: "patterns", input_schema: slow },
      { name: "unions", input_schema: union },
    ]);
    const input = `${"a".repeat(50_000)}!`;
    for (const capability of ["patterns", "unions"]) {
      const body = { capability, input };
      const found = await ask(`${world.url}/v1/capabilities/find`, { body });
      expect(found.json).toMatchObject({ fits: [], left_out: [{ agent_id: "patterns" }] });
    }
  });
});

function nested(depth: number): object {
  return depth === 0 ? {} : { anyOf: [nested(depth - 1)] };
}

describe("network", () => {
  test.each([
    ["evil.example", undefined],
    ["localhost.evil.example", undefined],
    ["127.0.0.1.nip.io", undefined],
    ["127.0.0.1", "https://evil.example"],
    ["127.0.0.1", "null"],
    ["127.0.0.1", "http://127.0.0.1.evil.example"],
    ["127.0.0.1:1", "http://localhost:3000"],
  ])("30: the host %j and the origin %j are 403", async (host, origin) => {
    const headers = { host, ...(origin === undefined ? {} : { origin }) };
    for (const path of ["/healthz", "/.well-known/waybill", "/v1/agents"]) {
      const answer = await rawAsk(world.url, { path, headers });
      expect(JSON.parse(answer.text)).toMatchObject({ waybill_status: 403 });
    }
    await expect(Wire.open(world.url, headers)).rejects.toThrow("403");
  });

  test("30: a request without a host is 403", async () => {
    const answer = await rawBytes(
      world.url,
      "GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1.1 403 /);
    expect(answer).toContain('"waybill_status":403');
  });

  test("30: the hub's own names and pages may send requests", async () => {
    const { port } = new URL(world.url);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
      const headers = { host, origin: `http://${host}` };
      expect(await rawAsk(world.url, { headers })).toMatchObject({ status: 200 });
    }
  });
});

describe("trust and load", () => {
  test("35: hops, children and counters end at their limits", async () => {
    expect(await submitted(sealed(payload({ hop: 17 }), owner.key))).toBe(413);
    const artifact = { name: "a", media_type: "x", digest: digestOf("x"), data: "" };
    const body = { capability: "work", artifacts: Array.from({ length: 257 }, () => artifact) };
    expect(await submitted(sealed(payload({ body }), owner.key))).toBe(413);
    const group = { id: newId(), index: 0, size: 257, join: "all" };
    expect(await submitted(sealed(payload({ group }), owner.key))).toBe(413);

    const parent = await underWay();
    const child = (envelope: HandoffEnvelope) =>
      sign(
        createHandoff({
          from: "worker",
          domain: world.hub.domain,
          to: "worker",
          body: { capability: "work" },
          parent: envelope,
        }),
        worker,
      );
    for (const status of [200, 200, 200, 413]) {
      expect(statusOf(await worker.submit(child(parent.envelope)))).toBe(status);
    }
    expect(await submitted(cancelBy(owner, parent))).toBe(200);

    const offered = owner.handoff("worker");
    const wire = await worker.attach();
    expect(statusOf(await owner.submit(offered.text))).toBe(200);
    await wire.delivery("offer");
    const counter = () =>
      reply(offered, worker, {
        kind: "receipt",
        attempt: 1,
        re: digestOfJws(offered.text),
        body: { status: 406, counter: { timeout_seconds: 5 } },
      });
    expect(statusOf(await worker.submit(counter()))).toBe(200);
    for (let turn = 0; turn < 3; turn++) {
      expect(statusOf(await worker.submit(counter()))).toBe(410);
    }
    await wire.close();
  });
});

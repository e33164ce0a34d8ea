import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestOf } from "../signing/digest.ts";
import type { HandoffEnvelope } from "../envelope/envelope.ts";
import { WaybillError } from "../error.ts";
import { stringifyJson } from "../json/json.ts";
import { digestOfJws, readCompact, signCompact } from "../signing/jws.ts";
import { privateKeyFrom } from "../signing/key.ts";
import type { PrivateKey } from "../signing/key.ts";
import { isKeyValidAt } from "./key-record.ts";
import { keyring } from "./keyring.ts";
import { signManifest, verifyManifest } from "./manifest.ts";
import type { VerifiedManifest } from "./manifest.ts";
import type { KeyValidity, ManifestInput } from "./manifest-schema.ts";
import { provenKey } from "./possession.ts";
import type { ProvenKey } from "./possession.ts";
import { signEnvelope } from "../envelope/sign-envelope.ts";
import { verifyEnvelope } from "../envelope/verify-envelope.ts";

const [k1, k2, k3, mallory] = [1, 2, 3, 66].map((byte) =>
  privateKeyFrom(new Uint8Array(32).fill(byte)),
) as [PrivateKey, PrivateKey, PrivateKey, PrivateKey];

const AT = Date.parse("2026-11-18T07:45:00Z");
const DAY = 86_400_000;
const day = (days: number) => new Date(AT + days * DAY).toISOString();

const base: ManifestInput = {
  agent_id: "research-agent-001",
  capabilities: [{ name: "web_research", input_schema: { query: "string" } }],
};

function proven(key: PrivateKey, validity?: KeyValidity): ProvenKey {
  return provenKey(base.agent_id, key, validity);
}

function first(members: Partial<ManifestInput> = {}, key = k1, at = AT): VerifiedManifest {
  return verifyManifest(signManifest({ ...base, ...members }, key), { at });
}

function update(
  previous: VerifiedManifest,
  members: Partial<ManifestInput>,
  key: PrivateKey,
): string {
  const sequence = previous.manifest.sequence + 1;
  return signManifest({ ...base, sequence, previous: previous.digest, ...members }, key);
}

function refusal(run: () => unknown): { status: number; message: string; at: string | undefined } {
  try {
    run();
  } catch (error) {
    if (!WaybillError.is(error)) throw error;
    return { status: error.status, message: error.message, at: error.at };
  }
  throw new Error("nothing was refused");
}

describe("the first manifest", () => {
  test("lists the key that signs it, and is read back unchanged", () => {
    const text = signManifest(base, k1);
    const verified = verifyManifest(text, { at: AT });
    expect(verified).toMatchObject({ kid: k1.kid, text, digest: digestOfJws(text), at: AT });
    expect(verified.manifest).toMatchObject({
      agent_id: "research-agent-001",
      sequence: 1,
      keys: [{ kid: k1.kid, ...k1.jwk }],
    });
  });

  test("keeps unknown members in the signed bytes", () => {
    const text = signManifest({ ...base, motto: "unknown here" }, k1);
    expect(JSON.parse(readCompact(text).payload)).toMatchObject({
      waybill: 1,
      kind: "manifest",
      motto: "unknown here",
    });
    expect(verifyManifest(text, { at: AT }).manifest).not.toHaveProperty("motto");
  });

  test("is not signed with a key that it does not list", () => {
    expect(refusal(() => signManifest({ ...base, keys: [k2.jwk] }, k1)).status).toBe(400);
    const payload = stringifyJson({ waybill: 1, kind: "manifest", ...base, keys: [k2.jwk] });
    const forged = signCompact(payload, k1);
    expect(refusal(() => verifyManifest(forged, { at: AT }))).toMatchObject({ status: 401 });
  });

  test("is neither signed nor accepted if it is hostile", () => {
    const hostile = { ...base, capabilities: [{ name: "x", input_schema: { $ref: "http://x/" } }] };
    expect(refusal(() => signManifest(hostile, k1)).status).toBe(400);
    const payload = stringifyJson({ waybill: 1, kind: "manifest", ...hostile, keys: [k1.jwk] });
    expect(refusal(() => verifyManifest(signCompact(payload, k1), { at: AT }))).toMatchObject({
      status: 400,
      at: "/capabilities/0/input_schema/$ref",
    });
  });

  test.each([
    ["before", -2],
    ["after", 2],
  ])("is refused %s its key's time", (_when, offset) => {
    const keys = [{ ...k1.jwk, not_before: day(-1), not_after: day(1) }];
    const text = signManifest({ ...base, keys }, k1);
    expect(verifyManifest(text, { at: AT }).kid).toBe(k1.kid);
    const at = AT + offset * DAY;
    expect(refusal(() => verifyManifest(text, { at })).status).toBe(401);
  });

  test("is refused with any changed character", () => {
    const text = signManifest(base, k1);
    const characters = "ABCxyz019-_.".split("");
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom(...characters), (index, character) => {
        fc.pre(text[index] !== character);
        const changed = text.slice(0, index) + character + text.slice(index + 1);
        const { status } = refusal(() => verifyManifest(changed, { at: AT }));
        expect([400, 401, 413]).toContain(status);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a manifest", () => {
  const agent = "research-agent-001";
  const record = {
    agent,
    key: [...first().keys.values()][0]!.key,
    notBefore: 0,
    notAfter: Infinity,
  };

  test("does not pass for an envelope", () => {
    const text = signManifest({ ...base, from: agent, to: "x", body: {} }, k1);
    expect(refusal(() => verifyEnvelope(text, { at: AT, keyOf: () => record })).status).toBe(400);
  });

  test("can't be replaced by an envelope, whatever else that contains", () => {
    const id = "0198a0b4-1c2d-7e3f-8a4b-5c6d7e8f9a0b";
    const envelope = {
      waybill: 1,
      kind: "handoff",
      domain: k1.kid,
      id,
      from: agent,
      to: "editor-001",
      handoff_id: id,
      correlation_id: id,
      issued_at: day(0),
      salt: "AAAAAAAAAAAAAAAAAAAAAA",
      deadline: day(1),
      body: { capability: "x" },
      ...base,
      keys: [k1.jwk],
    } satisfies HandoffEnvelope & ManifestInput;
    const text = signEnvelope(envelope, k1);
    expect(verifyEnvelope(text, { at: AT, keyOf: () => record }).kid).toBe(k1.kid);
    expect(refusal(() => verifyManifest(text, { at: AT }))).toMatchObject({
      status: 400,
      at: "/kind",
    });
  });
});

describe("an update", () => {
  test("with the next number, the previous digest and the previous key is accepted", () => {
    const previous = first();
    const text = update(previous, { description: "better", keys: [k1.jwk] }, k1);
    const { manifest } = verifyManifest(text, { previous, at: AT });
    expect(manifest).toMatchObject({ sequence: 2, description: "better" });
  });

  test("is verified before it is parsed", () => {
    const one = first();
    const forged = signCompact("no JSON at all", k1).split(".");
    const other = update(one, {}, k1).split(".");
    const text = [forged[0], forged[1], other[2]].join(".");
    expect(refusal(() => verifyManifest(text, { previous: one, at: AT })).status).toBe(401);
    const signed = signCompact("no JSON at all", k1);
    expect(refusal(() => verifyManifest(signed, { previous: one, at: AT })).status).toBe(400);
  });

  test("with the same text changes nothing", () => {
    const previous = first();
    expect(verifyManifest(previous.text, { previous, at: AT + DAY })).toBe(previous);
  });

  test("may add a new key and drop the one that signs it", () => {
    const previous = first();
    const second = verifyManifest(update(previous, { keys: [proven(k2)] }, k1), {
      previous,
      at: AT,
    });
    expect([...second.keys.keys()]).toEqual([k2.kid]);
    const text = update(second, { keys: [k2.jwk] }, k2);
    expect(verifyManifest(text, { previous: second, at: AT }).manifest.sequence).toBe(3);
  });

  const cases: [string, (previous: VerifiedManifest) => string, number, string][] = [
    ["another content under the same number", () => first({ version: "2" }).text, 409, "/sequence"],
    [
      "a gap",
      (previous) => update(previous, { sequence: 3, keys: [k1.jwk] }, k1),
      409,
      "/sequence",
    ],
    [
      "a branch",
      (previous) => update(previous, { previous: digestOf("another"), keys: [k1.jwk] }, k1),
      409,
      "/previous",
    ],
    [
      "another agent's id",
      (previous) => update(previous, { agent_id: "editor-001", keys: [k1.jwk] }, k1),
      409,
      "/agent_id",
    ],
    [
      "a new key without the old one's signature",
      (previous) => update(previous, { keys: [mallory.jwk] }, mallory),
      401,
      "/keys",
    ],
    [
      "a new key that lists the old one too",
      (previous) => update(previous, { keys: [proven(k1), mallory.jwk] }, mallory),
      401,
      "/keys",
    ],
    [
      "a fresh start with a new key",
      () => signManifest({ ...base, keys: [mallory.jwk] }, mallory),
      401,
      "/keys",
    ],
    [
      "a key that neither of them lists",
      (previous) => update(previous, { keys: [proven(k1)] }, mallory),
      401,
      "/keys",
    ],
  ];
  test.each(cases)("with %s is refused", (_what, make, status, at) => {
    const previous = first();
    const { status: actual, at: place } = refusal(() =>
      verifyManifest(make(previous), { previous, at: AT }),
    );
    expect([actual, place]).toEqual([status, at]);
  });

  test("with a different key is refused with what changed and what to do", () => {
    const previous = first();
    const text = update(previous, { keys: [mallory.jwk], capabilities: [] }, mallory);
    const { message } = refusal(() => verifyManifest(text, { previous, at: AT }));
    expect(message).toContain("THE KEY HAS CHANGED");
    expect(message).toContain(`keys (without ${k1.kid}, with ${mallory.kid})`);
    expect(message).toContain("capabilities");
  });

  test("never goes back to an earlier manifest, even one with a valid key that was dropped since", () => {
    const one = first({ keys: [k1.jwk, proven(k2)] });
    const two = verifyManifest(update(one, { keys: [proven(k2)] }, k1), { previous: one, at: AT });
    const three = verifyManifest(update(two, { keys: [k2.jwk] }, k2), { previous: two, at: AT });
    const { keyOf } = keyring([one, two, three]);
    for (const old of [one, two]) {
      const options = { previous: three, at: AT, keyOf };
      expect(refusal(() => verifyManifest(old.text, options))).toMatchObject({
        status: 409,
        at: "/sequence",
      });
    }
    const forgotten = { previous: three, at: AT };
    expect(refusal(() => verifyManifest(two.text, forgotten)).status).toBe(401);
  });

  test("of a known agent is not accepted as a first one by a key that only older ones list", () => {
    const one = first({ keys: [k1.jwk, proven(k2)] });
    const text = update(one, { keys: [proven(k2)] }, k1);
    const { keyOf } = keyring([one]);
    expect(refusal(() => verifyManifest(text, { at: AT, keyOf })).status).toBe(401);
  });

  test("is not signed by a key that the previous one has retired", () => {
    const previous = first({ keys: [k1.jwk, proven(k2, { retired_at: day(-1) })] });
    const text = update(previous, { keys: [k2.jwk] }, k2);
    expect(refusal(() => verifyManifest(text, { previous, at: AT })).status).toBe(401);
    expect(verifyManifest(text, { previous, at: AT - 2 * DAY }).kid).toBe(k2.kid);
  });

  test("does not list another agent's key", () => {
    const victim = first();
    const { keyOf } = keyring([victim]);
    const text = signManifest(
      { ...base, agent_id: "thief", keys: [mallory.jwk, provenKey("thief", k1)] },
      mallory,
    );
    expect(refusal(() => verifyManifest(text, { at: AT, keyOf }))).toMatchObject({
      status: 409,
      at: "/keys/1",
    });
    expect(verifyManifest(victim.text, { at: AT, keyOf }).kid).toBe(k1.kid);
  });
});

describe("trust", () => {
  const pinned = (previous: VerifiedManifest) => ({
    pins: new Map([[previous.manifest.agent_id, { digest: previous.digest }]]),
  });

  test("in a pinned digest accepts the pinned manifest, and refuses a changed one", () => {
    const previous = first();
    const trust = pinned(previous);
    expect(verifyManifest(previous.text, { at: AT, trust }).digest).toBe(previous.digest);
    const text = update(previous, { keys: [k1.jwk] }, k1);
    expect(refusal(() => verifyManifest(text, { previous, at: AT, trust })).status).toBe(403);
  });

  test("is decided again for a manifest that is known already", () => {
    const previous = first();
    const trust = { allowList: new Map() };
    expect(refusal(() => verifyManifest(previous.text, { previous, at: AT, trust })).status).toBe(
      403,
    );
  });

  test("admits a stranger on first use only if that is enabled", () => {
    const { text } = first();
    expect(refusal(() => verifyManifest(text, { at: AT, trust: {} })).status).toBe(401);
    expect(verifyManifest(text, { at: AT, trust: { firstUse: true } }).kid).toBe(k1.kid);
  });
});

describe("the keyring", () => {
  test("refuses a retired key for new messages, and still verifies old ones", () => {
    const one = first({ keys: [k1.jwk, proven(k2)] });
    const keys = [proven(k1, { retired_at: day(1) }), k2.jwk];
    const two = verifyManifest(update(one, { keys }, k2), { previous: one, at: AT });
    const record = keyring([one, two]).keyOf(k1.kid)!;
    expect(isKeyValidAt(record, AT + DAY - 1)).toBe(true);
    expect(isKeyValidAt(record, AT + DAY)).toBe(false);
    expect(isKeyValidAt(keyring([one, two]).keyOf(k2.kid)!, AT + 99 * DAY)).toBe(true);
  });

  test("ends a dropped key when the manifest without it arrived", () => {
    const one = first();
    const two = verifyManifest(update(one, { keys: [proven(k2)] }, k1), {
      previous: one,
      at: AT + DAY,
    });
    const record = keyring([two, one]).keyOf(k1.kid)!;
    expect(record).toMatchObject({ agent: "research-agent-001", notAfter: AT + DAY });
    expect(record.notBefore).toBe(-Infinity);
  });

  test("limits a key to its own period", () => {
    const keys = [{ ...k1.jwk, not_before: day(-1), not_after: day(2) }];
    const { notBefore, notAfter } = keyring([first({ keys })]).keyOf(k1.kid)!;
    expect([notBefore, notAfter]).toEqual([AT - DAY, AT + 2 * DAY]);
  });

  test("does not know keys that no manifest lists", () => {
    expect(keyring([first()]).keyOf(mallory.kid)).toBeUndefined();
    expect(keyring([]).keyOf("constructor")).toBeUndefined();
  });

  test("keeps a key with the agent that signed with it, whoever else lists it, in any order", () => {
    const victim = first();
    const thief = first(
      { agent_id: "thief", keys: [provenKey("thief", k1), mallory.jwk] },
      mallory,
    );
    for (const manifests of [
      [victim, thief],
      [thief, victim],
    ]) {
      expect(keyring(manifests).keyOf(k1.kid)?.agent).toBe("research-agent-001");
      expect(keyring(manifests).keyOf(mallory.kid)?.agent).toBe("thief");
    }
  });
});

test("any chain of rotations is verified link by link, and in no other order", () => {
  const pool = [k1, k2, k3];
  const step = fc.record({ signer: fc.nat(2), listed: fc.subarray([0, 1, 2], { minLength: 1 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      const chain = [first({ keys: pool.map((each) => proven(each)) })];
      for (const { signer, listed } of steps) {
        const previous = chain.at(-1)!;
        const key = pool[signer]!;
        const text = update(previous, { keys: listed.map((index) => proven(pool[index]!)) }, key);
        const at = AT + chain.length;
        if (previous.keys.has(key.kid)) chain.push(verifyManifest(text, { previous, at }));
        else expect(refusal(() => verifyManifest(text, { previous, at })).status).toBe(401);
      }
      const current = chain.at(-1)!;
      for (const old of chain.slice(0, -1)) {
        expect(
          refusal(() => verifyManifest(old.text, { previous: current, at: AT })).status,
        ).not.toBe(400);
      }
      const ring = keyring(chain);
      for (const key of pool) {
        // A dropped key was valid until the first manifest without it, after the last one with it.
        const last = chain.findLastIndex(({ keys }) => keys.has(key.kid));
        const end = last === chain.length - 1 ? Infinity : chain[last + 1]!.at;
        expect(ring.keyOf(key.kid)?.notAfter).toBe(end);
      }
    }),
    { numRuns: 60 },
  );
});

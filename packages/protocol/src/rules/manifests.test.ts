/// <reference types="node" />
import { describe, expect, test } from "vitest";
import { decideTrust } from "../hub.ts";
import {
  checkChain,
  compileSchema,
  digestOf,
  keyring,
  knownManifest,
  provenKey,
  provenRecoveryKey,
  normalizeSchema,
  parseManifest,
  privateKeyFrom,
  signManifest,
  signRecovery,
  verifyManifest,
  vouchesForKey,
} from "../index.ts";
import type { ManifestInput, PrivateKey, TrustPolicy, VerifiedManifest } from "../index.ts";
import {
  DAY,
  EDITOR,
  editor,
  handoff,
  KINDS,
  NOW,
  refusal,
  researcher,
  RESEARCHER,
  seal,
  SOUND,
  statusOf,
  stranger,
  time,
  verify,
} from "./rules-fixture.ts";

const BASE: ManifestInput = { agent_id: EDITOR, capabilities: [{ name: "edit" }] };

/** Signs a payload unchanged, for manifests that `signManifest` would refuse. */
function manifest(members: object = {}): object {
  return { waybill: 1, kind: "manifest", ...BASE, sequence: 1, keys: [editor.jwk], ...members };
}

function readManifest(members: object, key = editor, options = {}): VerifiedManifest {
  return verifyManifest(seal(JSON.stringify(manifest(members)), key), { at: NOW, ...options });
}

const first = verifyManifest(signManifest({ ...BASE, keys: [editor.jwk] }, editor), { at: NOW });

/** An update of the first manifest, valid but for the given changes. */
function update(members: object, key: PrivateKey = editor, previous = first): VerifiedManifest {
  const followed = { sequence: previous.manifest.sequence + 1, previous: previous.digest };
  return readManifest({ ...followed, ...members }, key, { previous });
}

/** A key of the editor's that does not sign here. */
const spare = provenKey(EDITOR, researcher);

test("WB-60 a reader of manifests accepts version 1 and the kind manifest, and refuses others with 400", () => {
  expect(readManifest({}).manifest.agent_id).toBe(EDITOR);
  for (const waybill of [2, "1", null, undefined]) {
    expect(refusal(() => readManifest({ waybill })).status, String(waybill)).toBe(400);
  }
  for (const kind of [...KINDS, "Manifest", "", null, undefined]) {
    expect(refusal(() => readManifest({ kind })).status, String(kind)).toBe(400);
  }
  for (const kind of KINDS) {
    const text = seal(JSON.stringify(SOUND[kind]));
    expect(refusal(() => verifyManifest(text, { at: NOW, previous: first })).status).toBe(400);
  }
  const wire = [first.text.slice(1), `${first.text}A`, "x".repeat(1_048_577)];
  expect(wire.map((text) => statusOf(() => verifyManifest(text, { at: NOW })))).toEqual([
    400, 400, 413,
  ]);
});

test("WB-61 a first manifest that is not signed by a key that it lists is refused with 401", () => {
  expect(first.kid).toBe(editor.kid);
  const { keyOf } = keyring([first]);
  for (const keys of [[], [researcher.jwk], undefined]) {
    expect(refusal(() => readManifest({ keys })).status).toBe(401);
    expect(refusal(() => readManifest({ keys }, editor, { keyOf })).status).toBe(401);
  }
  const forged = `${first.text.slice(0, first.text.lastIndexOf("."))}.${"A".repeat(86)}`;
  expect(refusal(() => verifyManifest(forged, { at: NOW })).status).toBe(401);
});

describe("an update", () => {
  test("WB-62 is signed by a key that the previous manifest lists; otherwise 401", () => {
    const keys = [provenKey(EDITOR, editor), spare];
    expect(update({ keys }).manifest.sequence).toBe(2);
    expect(update({ keys: [spare] }).manifest.keys).toHaveLength(1);
    for (const listed of [keys, [spare]]) {
      expect(refusal(() => update({ keys: listed }, researcher)).status).toBe(401);
    }
    expect(refusal(() => update({ keys }, stranger)).status).toBe(401);
  });

  test("WB-114 may be signed by a pinned key instead, which revokes the old ones", () => {
    const next = { sequence: 2, previous: first.digest };
    const pinned = (members: object, key: PrivateKey, vouched?: (kid: string) => boolean) =>
      readManifest({ ...next, ...members }, key, { previous: first, vouched });
    const isPinned = (kid: string) => kid === stranger.kid;
    const keys = [stranger.jwk];
    const taken = pinned({ keys }, stranger, isPinned);
    expect(taken.manifest.sequence).toBe(2);
    expect(keyring([first, taken]).keyOf(editor.kid)?.notAfter).toBe(NOW);
    expect(refusal(() => pinned({ keys }, stranger)).status).toBe(401);
    expect(refusal(() => pinned({ keys: [researcher.jwk] }, researcher, isPinned)).status).toBe(
      401,
    );
    expect(refusal(() => pinned({ keys: [editor.jwk] }, stranger, isPinned)).status).toBe(401);
    const both = [stranger.jwk, editor.jwk];
    expect(refusal(() => pinned({ keys: both }, stranger, isPinned)).status).toBe(401);
    expect(refusal(() => pinned({ keys, sequence: 3 }, stranger, isPinned)).status).toBe(409);
    const forked = { keys, previous: digestOf("another") };
    expect(refusal(() => pinned(forked, stranger, isPinned)).status).toBe(409);
    const again = { sequence: 3, previous: taken.digest, keys: [editor.jwk] };
    expect(refusal(() => readManifest(again, editor, { previous: taken })).status).toBe(401);
  });

  test("WB-114 is refused if a pin, a list or a registry names another key", () => {
    const says = (kid: string) => new Map([[EDITOR, { kids: [kid] }]]);
    const names = (policy: TrustPolicy) => vouchesForKey(policy, EDITOR, stranger.kid);
    expect(names({ pins: says(stranger.kid), registry: says(editor.kid) })).toBe(true);
    expect(names({ pins: says(editor.kid), registry: says(stranger.kid) })).toBe(false);
    expect(names({ allowList: says(stranger.kid) })).toBe(true);
    expect(names({ registry: says(stranger.kid) })).toBe(true);
    expect(names({ firstUse: true })).toBe(false);
    expect(names({ pins: new Map([[EDITOR, { digest: first.digest }]]) })).toBe(false);
  });

  test("WB-62 is signed by a key that is valid; otherwise 401", () => {
    for (const validity of [
      { retired_at: time(-1) },
      { not_after: time(0) },
      { not_before: time(1) },
    ]) {
      const keys = [editor.jwk, provenKey(EDITOR, researcher, validity)];
      const previous = update({ keys });
      expect(refusal(() => update({ keys: [spare] }, researcher, previous)).status).toBe(401);
      expect(update({ keys: [editor.jwk] }, editor, previous).manifest.sequence).toBe(3);
    }
  });

  test("WB-63 with a lower or skipped number, a branch, or another agent is refused with 409", () => {
    const second = update({ version: "2" });
    const third = update({ version: "3" }, editor, second);
    expect(third.manifest).toMatchObject({ sequence: 3, previous: second.digest });
    const cases: [string, () => unknown, string][] = [
      [
        "the first again",
        () => verifyManifest(first.text, { at: NOW, previous: third }),
        "/sequence",
      ],
      [
        "the second again",
        () => verifyManifest(second.text, { at: NOW, previous: third }),
        "/sequence",
      ],
      ["a skipped number", () => update({ sequence: 3 }), "/sequence"],
      [
        "other content",
        () => readManifest({ version: "x" }, editor, { previous: first }),
        "/sequence",
      ],
      ["another branch", () => update({ previous: digestOf("another") }), "/previous"],
      [
        "a branch from before",
        () => update({ previous: first.digest }, editor, second),
        "/previous",
      ],
      ["another agent", () => update({ agent_id: RESEARCHER }), "/agent_id"],
    ];
    for (const [what, action, at] of cases)
      expect(refusal(action), what).toEqual({ status: 409, at });
    // The same manifest again is no update, and changes nothing.
    expect(verifyManifest(third.text, { at: NOW + 5, previous: third })).toBe(third);
  });
});

test("WB-91 a hub that knows no manifest of an agent refuses all but the first with 409", () => {
  const text = signManifest({ ...BASE, sequence: 2, previous: first.digest }, editor);
  const refused = { status: 409, at: "/sequence" };
  expect(refusal(() => verifyManifest(text, { at: NOW, fromFirst: true }))).toEqual(refused);
  expect(verifyManifest(first.text, { at: NOW, fromFirst: true }).manifest.sequence).toBe(1);
  const next = verifyManifest(text, { at: NOW, fromFirst: true, previous: first });
  expect(next.manifest.sequence).toBe(2);
  // A mere reader may begin with a later one.
  expect(verifyManifest(text, { at: NOW }).manifest.sequence).toBe(2);
});

test("WB-64 an agent that lists a key of another agent is refused with 409", () => {
  const { keyOf } = keyring([first]);
  const theft = { agent_id: "thief", keys: [stranger.jwk, provenKey("thief", editor)] };
  expect(refusal(() => readManifest(theft, stranger, { keyOf }))).toEqual({
    status: 409,
    at: "/keys/1",
  });
  expect(readManifest({ ...theft, keys: [stranger.jwk] }, stranger, { keyOf }).kid).toBe(
    stranger.kid,
  );
  expect(readManifest({}, editor, { keyOf }).kid).toBe(editor.kid);
});

test("WB-89 a key that does not sign and has no valid proof is refused with 401", () => {
  const { proof } = spare;
  const without = { ...researcher.jwk };
  const bad = [
    without,
    { ...without, proof: "" },
    { ...without, proof: proof.slice(0, -2) },
    { ...without, proof: `${proof}=` },
    { ...without, proof: "A".repeat(proof.length) },
    { ...without, proof: `${proof[0] === "A" ? "B" : "A"}${proof.slice(1)}` },
    { ...without, proof: provenKey(EDITOR, stranger).proof },
  ];
  const place = { status: 401, at: "/keys/1/proof" };
  for (const each of bad) {
    expect(refusal(() => readManifest({ keys: [editor.jwk, each] }))).toEqual(place);
    expect(refusal(() => update({ keys: [editor.jwk, each] }))).toEqual(place);
    expect(refusal(() => signManifest({ ...BASE, keys: [editor.jwk, each] }, editor))).toEqual(
      place,
    );
  }
  expect(readManifest({ keys: [editor.jwk, spare] }).keys.size).toBe(2);
  // The key that signs proves itself by its signature.
  expect(readManifest({ keys: [{ ...editor.jwk, proof: "A" }, spare] }).keys.size).toBe(2);
  // An update that drops its signing key carries the proof of the next one.
  expect(refusal(() => update({ keys: [without] })).status).toBe(401);
  expect(update({ keys: [spare] }).keys.size).toBe(1);
});

test("WB-90 a proof is a signature over agent, key and purpose, and valid for no others", () => {
  const proofOver = (agent: string, kid: string, purpose: string, key = researcher) => {
    const text = `waybill key 1\n${agent}\n${kid}\n${purpose}`;
    const signature = Buffer.from(key.sign(Buffer.from(text, "utf8")));
    return { ...researcher.jwk, proof: signature.toString("base64url") };
  };
  const { kid } = researcher;
  expect(proofOver(EDITOR, kid, "sign").proof).toBe(spare.proof);
  expect(spare).toMatchObject({ kid, ...researcher.jwk });
  const others = [
    proofOver("thief", kid, "sign"),
    proofOver(EDITOR, editor.kid, "sign"),
    proofOver(EDITOR, kid, "recover"),
    proofOver(EDITOR, kid, "sign\n"),
    proofOver(EDITOR, kid, ""),
    proofOver(EDITOR, kid, "sign", editor),
  ];
  for (const each of others) {
    expect(refusal(() => readManifest({ keys: [editor.jwk, each] })).status).toBe(401);
  }
  expect(readManifest({ keys: [editor.jwk, spare] }).keys.size).toBe(2);
});

describe("a recovery key", () => {
  const offline = privateKeyFrom(new Uint8Array(32).fill(41));
  const otherOffline = privateKeyFrom(new Uint8Array(32).fill(42));
  const kept = provenRecoveryKey(EDITOR, offline);
  const withKey = readManifest({ keys: [editor.jwk, kept] });
  const next = { sequence: 2, previous: withKey.digest };
  const follow = (members: object, key: PrivateKey, options = {}) =>
    readManifest({ ...next, ...members }, key, { previous: withKey, ...options });
  const agreed = (keys: unknown[], by = offline, over: object = {}) =>
    signRecovery({ ...(manifest({ ...next, ...over, keys }) as ManifestInput) }, by);
  const recovered = () => follow(agreed([researcher.jwk, kept]), researcher);

  test("WB-200 stands alone in a manifest, without times, and proves that it is held for recoveries", () => {
    expect([...withKey.keys.keys()]).toEqual([editor.kid]);
    expect(withKey.recovery?.kid).toBe(offline.kid);
    const listing = (...keys: object[]) =>
      refusal(() => readManifest({ keys: [editor.jwk, ...keys] }));
    expect(listing(kept, provenRecoveryKey(EDITOR, otherOffline))).toEqual({
      status: 400,
      at: "/keys/2",
    });
    for (const use of ["enc", "recover", "", null]) {
      expect(listing({ ...spare, use }).status, String(use)).toBe(400);
    }
    for (const member of ["not_before", "not_after", "retired_at"]) {
      expect(listing({ ...kept, [member]: time(DAY) })).toEqual({ status: 400, at: "/keys/1" });
    }
    const wrong = [
      { ...kept, proof: undefined },
      { ...provenKey(EDITOR, offline), use: "recovery" },
      provenRecoveryKey("thief", offline),
      { ...kept, proof: provenRecoveryKey(EDITOR, otherOffline).proof },
      { ...kept, use: undefined },
      { ...kept, use: "sig" },
    ];
    for (const each of wrong) {
      expect(listing(each)).toEqual({ status: 401, at: "/keys/1/proof" });
    }
    expect(readManifest({ keys: [{ ...editor.jwk, use: "sig" }] }).recovery).toBeUndefined();
  });

  test("WB-200 is never a key that the previous manifest lists for signing, nor becomes one", () => {
    const asRecovery = provenRecoveryKey(EDITOR, editor);
    expect(refusal(() => follow(agreed([researcher.jwk, asRecovery]), researcher)).status).toBe(
      409,
    );
    const asSigning = provenKey(EDITOR, offline);
    expect(refusal(() => follow(agreed([editor.jwk, asSigning]), editor)).status).toBe(409);
    expect(refusal(() => update({ keys: [spare, asRecovery] })).status).toBe(409);
  });

  test("WB-201 signs no manifest and no envelope", () => {
    const keys = [provenKey(EDITOR, editor), kept];
    expect(refusal(() => readManifest({ keys }, offline)).status).toBe(401);
    expect(refusal(() => signManifest({ ...BASE, keys }, offline)).status).toBe(400);
    expect(refusal(() => follow({ keys }, offline)).status).toBe(401);
    expect(refusal(() => follow(agreed([spare, kept]), offline)).status).toBe(401);
    const vouched = () => true;
    expect(refusal(() => follow({ keys }, offline, { vouched })).status).toBe(401);
    const { keyOf } = keyring([withKey]);
    const said = seal(JSON.stringify(handoff()), offline);
    expect(statusOf(() => verify(said, { keyOf, at: NOW }))).toBe(401);
    expect(keyOf(offline.kid)).toBeUndefined();
  });

  test("WB-202 has signed exactly these keys, in this manifest of this agent", () => {
    expect(recovered().keys.has(researcher.kid)).toBe(true);
    const sound = agreed([researcher.jwk, kept]);
    const others = [
      { ...sound, recovery: "" },
      { ...sound, recovery: sound.recovery.slice(0, -2) },
      { ...sound, keys: [researcher.jwk, kept, provenKey(EDITOR, stranger)] },
      { ...sound, keys: [kept, researcher.jwk] },
      { ...sound, recovery: agreed([researcher.jwk, kept], stranger).recovery },
      { ...sound, recovery: agreed([researcher.jwk, kept], editor).recovery },
      { ...sound, recovery: agreed([researcher.jwk, kept], offline, { sequence: 3 }).recovery },
      {
        ...sound,
        recovery: agreed([researcher.jwk, kept], offline, { previous: first.digest }).recovery,
      },
      {
        ...sound,
        recovery: agreed([researcher.jwk, provenRecoveryKey("other", offline)], offline, {
          agent_id: "other",
        }).recovery,
      },
    ];
    for (const each of others) {
      expect(refusal(() => follow(each, researcher))).toEqual({ status: 401, at: "/recovery" });
    }
    // A key of the previous manifest does not make up for it.
    const byOld = { keys: [editor.jwk, kept], recovery: sound.recovery };
    expect(refusal(() => follow(byOld, editor)).status).toBe(401);
    expect(refusal(() => readManifest({ recovery: sound.recovery }))).toEqual({
      status: 400,
      at: "/recovery",
    });
    const nobodys = { ...sound, sequence: 2, previous: first.digest };
    expect(refusal(() => readManifest(nobodys, researcher, { previous: first })).status).toBe(401);
    expect(refusal(() => signRecovery(BASE, offline)).status).toBe(400);
  });

  test("WB-203 lets an agent continue with a new key, and ends all old ones at once", () => {
    const text = seal(JSON.stringify(agreed([researcher.jwk, kept])), researcher);
    const taken = verifyManifest(text, { previous: withKey, at: NOW + DAY });
    const { keyOf } = keyring([withKey, taken]);
    expect(keyOf(editor.kid)?.notAfter).toBe(NOW + DAY);
    expect(keyOf(researcher.kid)?.notAfter).toBe(Infinity);
    const withOld = agreed([researcher.jwk, provenKey(EDITOR, editor), kept]);
    expect(refusal(() => follow(withOld, researcher))).toEqual({ status: 400, at: "/keys/1" });
    const unlisted = agreed([spare, kept]);
    expect(refusal(() => follow(unlisted, stranger)).status).toBe(401);
    // Like every update it is valid for one number and one place in the chain.
    const skipped = agreed([researcher.jwk, kept], offline, { sequence: 3 });
    expect(refusal(() => follow(skipped, researcher)).status).toBe(409);
    const branched = agreed([researcher.jwk, kept], offline, { previous: first.digest });
    expect(refusal(() => follow(branched, researcher)).status).toBe(409);
    const again = { keys: [researcher.jwk, kept], sequence: 3, previous: taken.digest };
    expect(readManifest(again, researcher, { previous: taken }).manifest.sequence).toBe(3);
    expect(refusal(() => readManifest(again, editor, { previous: taken })).status).toBe(401);
  });

  test("WB-204 changes or goes only with its own signature, or by a pin", () => {
    const byPin = { vouched: (kid: string) => kid === editor.kid };
    for (const keys of [
      [editor.jwk],
      [editor.jwk, provenRecoveryKey(EDITOR, otherOffline)],
      [spare],
    ]) {
      expect(refusal(() => follow({ keys }, editor))).toEqual({ status: 401, at: "/keys" });
      expect(follow({ keys }, editor, byPin).manifest.sequence).toBe(2);
      expect(follow(agreed(keys), editor).manifest.sequence).toBe(2);
    }
    expect(follow({ keys: [editor.jwk, kept] }, editor).recovery?.kid).toBe(offline.kid);
    // Any holder of a signing key may add one.
    expect(update({ keys: [editor.jwk, kept] }).recovery?.kid).toBe(offline.kid);
  });
});

test("WB-205 a history that lacks the manifest accepted before is refused with 401", () => {
  const second = update({ keys: [editor.jwk, spare] });
  const other = readManifest({ version: "other" });
  const known = knownManifest(first);
  expect(known).toEqual({ agent: EDITOR, sequence: 1, digest: first.digest });
  const shown = (...history: VerifiedManifest[]) => history.map(({ digest }) => digest);
  expect(statusOf(() => checkChain(known, shown(first, second)))).toBe("taken");
  expect(statusOf(() => checkChain(knownManifest(second), shown(first, second)))).toBe("taken");
  expect(statusOf(() => checkChain(known, shown(other)))).toBe(401);
  expect(statusOf(() => checkChain(knownManifest(second), shown(first)))).toBe(401);
  expect(statusOf(() => checkChain(known, []))).toBe(401);
});

test("WB-65 a key that an update drops is retired from then on", () => {
  const text = signManifest(
    { ...BASE, sequence: 2, previous: first.digest, keys: [spare] },
    editor,
  );
  const second = verifyManifest(text, { at: NOW + DAY, previous: first });
  const { keyOf } = keyring([first, second]);
  expect(keyOf(editor.kid)?.notAfter).toBe(NOW + DAY);
  expect(keyOf(researcher.kid)?.notAfter).toBe(Infinity);
  const old = seal(JSON.stringify(handoff()));
  expect(statusOf(() => verify(old, { keyOf, at: NOW + DAY - 1 }))).toBe("taken");
  expect(statusOf(() => verify(old, { keyOf, at: NOW + DAY }))).toBe(401);
});

describe("a schema", () => {
  const $schema = "https://json-schema.org/draft/2020-12/schema";
  const inManifest = (input_schema: unknown) => () =>
    parseManifest({ agent_id: "a", capabilities: [{ name: "c", input_schema }] });

  function refusedWith(status: number, schema: unknown): void {
    const shown = JSON.stringify(schema).slice(0, 80);
    expect(
      statusOf(() => compileSchema(schema)),
      shown,
    ).toBe(status);
    expect(statusOf(inManifest(schema)), `in a manifest: ${shown}`).toBe(status);
  }

  test("WB-66 in the shorthand of names and types is normalised to JSON Schema", () => {
    const types = {
      string: "string",
      int: "integer",
      integer: "integer",
      float: "number",
      number: "number",
      bool: "boolean",
      boolean: "boolean",
      array: "array",
      list: "array",
      object: "object",
      dict: "object",
      null: "null",
    };
    for (const [word, type] of Object.entries(types)) {
      expect(normalizeSchema({ a: word })).toEqual({
        type: "object",
        properties: { a: { type } },
        required: ["a"],
      });
    }
    const shorthand = { query: "string", depth: "int?", tags: "string[]", by: { name: "any" } };
    const schema = {
      type: "object",
      properties: {
        query: { type: "string" },
        depth: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
        by: { type: "object", properties: { name: {} }, required: ["name"] },
      },
      required: ["query", "tags", "by"],
    };
    expect(normalizeSchema(shorthand)).toEqual(schema);
    expect(normalizeSchema(schema)).toEqual(schema);
    expect(inManifest(shorthand)().capabilities[0]!.input_schema).toEqual(schema);
    expect(statusOf(inManifest({ query: "strnig" }))).toBe(400);
  });

  test("WB-67 with a remote or dangling reference is refused with 400", () => {
    const remote = ["https://example.com/s", "//example.com/s", "file:///etc/passwd", "other.json"];
    const nowhere = ["#/$defs/missing", "#missing", "#/properties/a/b", "urn:uuid:1", "#/%"];
    for (const $ref of [...remote, ...nowhere]) {
      refusedWith(400, { $ref });
      refusedWith(400, { $schema, properties: { a: { $ref } } });
      refusedWith(400, { $schema, $dynamicRef: $ref });
    }
    refusedWith(400, { $schema: "https://example.com/dialect" });
  });

  test("WB-67 that refers to itself without going deeper is refused with 400", () => {
    const loop = { $ref: "#/$defs/a" };
    refusedWith(400, { $ref: "#" });
    refusedWith(400, { $schema, allOf: [{ not: { $ref: "#" } }] });
    refusedWith(400, { ...loop, $defs: { a: { $ref: "#/$defs/b" }, b: loop } });
    refusedWith(400, { ...loop, $defs: { a: { anyOf: [{ if: loop }] } } });
    const tree = { $schema, properties: { children: { type: "array", items: { $ref: "#" } } } };
    const { check } = compileSchema(tree);
    expect(check({ children: [{ children: [] }, {}] })).toEqual([]);
    expect(check({ children: [{ children: [{ children: 7 }] }] })).toHaveLength(1);
  });

  test("WB-68 is matched in time linear in the text", () => {
    const hostile = ["^(a+)+$", "^(a|a)*$", "^(a*)*$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"];
    for (const pattern of hostile) {
      const steps = (length: number) => stepsFor(pattern, `${"a".repeat(length)}!`);
      const [short, long] = [steps(1_000), steps(8_000)];
      // Eight times the text, plus the rounding of the allowance.
      expect(long, pattern).toBeLessThan(short * 12);
    }
    expect(compileSchema({ $schema, pattern: "^(a+)+$" }).check("aaa")).toEqual([]);
  });

  /** How many steps a search takes: the smallest allowance, to a quarter, with which it ends. */
  function stepsFor(pattern: string, text: string): number {
    for (let checkSteps = 1024; ; checkSteps = Math.ceil(checkSteps * 1.25)) {
      const { check } = compileSchema({ $schema, type: "string", pattern }, { checkSteps });
      if (statusOf(() => expect(check(text)).toHaveLength(1)) === "taken") return checkSteps;
      if (checkSteps > 1e7) return Infinity;
    }
  }

  test("WB-68 with a backreference or lookaround is refused with 400", () => {
    for (const pattern of ["(a)\\1", "(?<n>a)\\k<n>", "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b"]) {
      refusedWith(400, { $schema, pattern });
      refusedWith(400, { $schema, patternProperties: { [pattern]: true } });
    }
  });

  test("WB-69 with more than 32 nested schemas, or 10,000 in all, is refused with 413", () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) });
    expect(statusOf(() => compileSchema({ $schema, ...nested(32) }))).toBe("taken");
    refusedWith(413, { $schema, ...nested(33) });
    refusedWith(413, { $schema, ...nested(300) });
    const wide = (count: number) => ({ $schema, anyOf: Array.from({ length: count }, () => true) });
    expect(statusOf(() => compileSchema(wide(9_998)))).toBe("taken");
    refusedWith(413, wide(10_000));
    const names = Array.from({ length: 10_001 }, (_, index) => [`n${index}`, true]);
    refusedWith(413, { $schema, properties: Object.fromEntries(names) });
  });

  test("WB-69 charges every keyword its cost, and leaves room for a large value", () => {
    const steps = (schema: object, value: unknown) => {
      const budget = { stepsLeft: 1e9 };
      compileSchema({ $schema, ...schema }, { checkSteps: 1e9 }).check(value, budget);
      return 1e9 - budget.stepsLeft;
    };
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
    for (const schema of [
      { uniqueItems: true },
      { contains: { type: "string" }, minContains: 0 },
      { items: { enum: numbers(10_000) } },
    ]) {
      const [few, many] = [steps(schema, numbers(1_000)), steps(schema, numbers(10_000))];
      expect(many / few).toBeGreaterThan(9);
    }
    expect(steps({ minLength: 1 }, "x".repeat(100_000))).toBeGreaterThan(10_000);
    const large = compileSchema({ $schema, items: { type: "string", pattern: "^[a-z]+$" } });
    expect(large.check(Array(40_000).fill("abcdefghijklmnopqrstuvwxy"))).toEqual([]);
  });

  test("WB-93 of one manifest are refused with 413 if they are too large together", () => {
    const offering = (count: number, schema: (index: number) => object) => ({
      agent_id: "a",
      capabilities: Array.from({ length: count }, (_, index) => ({
        name: `c${index}`,
        input_schema: { $schema, ...schema(index) },
      })),
    });
    const wide = (count: number) => () => ({ anyOf: Array(count).fill(true) as unknown[] });
    const status = (value: object) => statusOf(() => parseManifest(value));
    expect(status(offering(2, wide(9_998)))).toBe("taken");
    expect(status(offering(3, wide(9_998)))).toBe(413);
    const long = () => ({ enum: Array(60_000).fill(1) as unknown[] });
    expect(status(offering(4, long))).toBe("taken");
    expect(status(offering(5, long))).toBe(413);
    const pattern = (index: number) => ({ pattern: `^(a{900}){5}${index}$` });
    expect(status(offering(10, pattern))).toBe("taken");
    expect(status(offering(30, pattern))).toBe(413);
  });

  test("WB-69 stops with 413 if a value would cost more than a bounded number of steps", () => {
    const { check } = compileSchema({ $schema, items: { type: "null" } });
    expect(check(Array(100_000).fill(null))).toEqual([]);
    expect(statusOf(() => check(Array(3_000_000).fill(null)))).toBe(413);
    // Each level applies the one below twice: unbounded, that would be 2 to the 30th times.
    const either = (below: object) => ({ anyOf: [below, { allOf: [below] }] });
    let doubling: object = { not: {} };
    for (let level = 0; level < 13; level++) doubling = { items: either(doubling) };
    let value: unknown = 1;
    for (let level = 0; level < 13; level++) value = [value];
    expect(
      statusOf(() => compileSchema({ $schema, ...doubling }, { checkSteps: 1_000 }).check(value)),
    ).toBe(413);
  });
});

describe("trust", () => {
  const subject = { agentId: EDITOR, kid: editor.kid, digest: first.digest };
  const well = new Map([[EDITOR, { kids: [editor.kid] }]]);
  const otherKey = new Map([[EDITOR, { kids: [researcher.kid] }]]);
  const otherForm = new Map([[EDITOR, { digest: digestOf("another") }]]);

  test("WB-70 is decided by pin, allow-list, registry and first use, in this order", () => {
    const all: TrustPolicy = { pins: well, allowList: well, registry: well, firstUse: true };
    const { pins: _pins, ...unpinned } = all;
    const { allowList: _allowList, ...unlisted } = unpinned;
    const { registry: _registry, ...unregistered } = unlisted;
    const sources = [all, unpinned, unlisted, unregistered].map(
      (policy) => decideTrust(policy, subject).by,
    );
    expect(sources).toEqual(["pin", "allow_list", "registry", "first_use"]);
    // The first source that knows the agent decides, even if those behind it would accept.
    for (const wrong of [otherKey, otherForm]) {
      for (const policy of [
        { ...all, pins: wrong },
        { ...unpinned, allowList: wrong },
        { ...unlisted, registry: wrong },
      ]) {
        expect(decideTrust(policy, subject).isTrusted).toBe(false);
      }
    }
    expect(decideTrust({ ...all, allowList: otherKey, registry: otherForm }, subject).by).toBe(
      "pin",
    );
    expect(decideTrust({ ...unpinned, allowList: new Map() }, subject).isTrusted).toBe(false);
  });

  test("WB-70 on first use only if that is enabled", () => {
    expect(decideTrust({ firstUse: true }, subject)).toMatchObject({
      isTrusted: true,
      by: "first_use",
    });
    for (const policy of [{}, { firstUse: false }, { firstUse: undefined }]) {
      expect(decideTrust(policy, subject)).toMatchObject({ isTrusted: false, status: 401 });
    }
  });

  test("WB-70 answers 401 if nothing vouches, and 403 if another form is vouched for", () => {
    const verdict = (trust: TrustPolicy) =>
      statusOf(() => verifyManifest(first.text, { at: NOW, trust }));
    expect(verdict({})).toBe(401);
    expect(verdict({ pins: new Map(), registry: new Map() })).toBe(401);
    expect(verdict({ pins: otherForm })).toBe(403);
    expect(verdict({ registry: otherForm, firstUse: true })).toBe(403);
    expect(verdict({ allowList: otherForm, registry: well })).toBe(403);
    expect(verdict({ pins: well })).toBe("taken");
  });
});

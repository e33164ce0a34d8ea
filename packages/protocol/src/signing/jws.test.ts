import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromBase64url, textToBase64url, toBase64url, utf8 } from "#platform";
import { batchRoots } from "./batch.ts";
import { WaybillError } from "../error.ts";
import { digestOfJws, readCompact, signCompact, signCompactBatch, verifyCompact } from "./jws.ts";
import { privateKeyFrom, publicKeyFrom } from "./key.ts";
import { LIMITS } from "../limits.ts";

/** Allows for many cases on a busy machine. */
const PATIENT = { timeout: 60_000 };

const key = privateKeyFrom(new Uint8Array(32).fill(1));
const otherKey = privateKeyFrom(new Uint8Array(32).fill(2));
const keys = new Map([key, otherKey].map(({ kid, jwk }) => [kid, publicKeyFrom(jwk)]));
const keyOf = (kid: string) => keys.get(kid);

const PAYLOAD = '{"waybill":1,"kind":"handoff","body":{"brief":"Grüße 😀"}}';

/** A JWS with any header text, signed correctly. */
function withHeader(header: string, payload = PAYLOAD): string {
  const input = `${textToBase64url(header)}.${textToBase64url(payload)}`;
  return `${input}.${toBase64url(key.sign(utf8(input)))}`;
}

function refusal(text: unknown, options = {}): WaybillError {
  try {
    verifyCompact(text, keyOf, options);
  } catch (error) {
    if (WaybillError.is(error)) return error;
    throw error;
  }
  throw new Error(`accepted: ${String(text).slice(0, 300)}`);
}

describe("signing and verifying", () => {
  test("return the exact payload, the key and the digest of the whole", () => {
    const text = signCompact(PAYLOAD, key);
    expect(verifyCompact(text, keyOf)).toEqual({
      alg: "Ed25519",
      kid: key.kid,
      payload: PAYLOAD,
      digest: digestOfJws(text),
    });
    const [header, , signature] = text.split(".");
    expect(header).toBe(
      textToBase64url(`{"alg":"Ed25519","kid":"${key.kid}","typ":"waybill+jws"}`),
    );
    expect(fromBase64url(signature!)).toHaveLength(64);
  });

  test("agree with any JOSE library: the signature is over header, dot and payload", () => {
    const text = signCompact(PAYLOAD, key);
    const dot = text.lastIndexOf(".");
    expect(
      keyOf(key.kid)!.verify(utf8(text.slice(0, dot)), fromBase64url(text.slice(dot + 1))!),
    ).toBe(true);
  });

  test("preserve any Unicode exactly, alone and in a batch", PATIENT, () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 60 }), { maxLength: 5 }),
        (payloads) => {
          for (const texts of [
            payloads.map((p) => signCompact(p, key)),
            signCompactBatch(payloads, otherKey),
          ]) {
            expect(texts.map((text) => verifyCompact(text, keyOf).payload)).toEqual(payloads);
          }
        },
      ),
      { numRuns: 150, examples: [[["\ufeff{}", "", "\0", "\ufffd", "\u2028"]]] },
    );
  });

  test("refuse a payload that is not Unicode, or too large", () => {
    for (const payload of ["\ud800", "a\udc00b", "\ude00\ud83d"]) {
      expect(() => signCompact(payload, key)).toThrow(expect.objectContaining({ status: 400 }));
      expect(() => signCompactBatch(["ok", payload], key)).toThrow(
        expect.objectContaining({ status: 400 }),
      );
    }
    const large = "x".repeat(LIMITS.envelopeBytes);
    expect(() => signCompact(large, key)).toThrow(expect.objectContaining({ status: 413 }));
    expect(() => signCompactBatch([large], key)).toThrow(expect.objectContaining({ status: 413 }));
    expect(() => signCompact("x".repeat(100), key, { envelopeBytes: 200 })).toThrow(
      expect.objectContaining({ status: 413 }),
    );
  });

  test("verify each envelope of a batch alone", () => {
    const payloads = Array.from({ length: 9 }, (_, i) => `{"n":${i}}`);
    const texts = signCompactBatch(payloads, key);
    for (const [index, text] of texts.entries()) {
      const roots = batchRoots();
      expect(verifyCompact(text, keyOf, { roots })).toEqual({
        alg: "Ed25519-batch",
        kid: key.kid,
        payload: payloads[index],
        digest: digestOfJws(text),
      });
    }
    expect(signCompactBatch([], key)).toEqual([]);
  });

  test("look the key up again after it was revoked", () => {
    const texts = [signCompact(PAYLOAD, key), signCompactBatch([PAYLOAD], key)[0]!];
    for (const text of texts) {
      expect(verifyCompact(text, keyOf).kid).toBe(key.kid);
      expect(() => verifyCompact(text, () => undefined)).toThrow(
        expect.objectContaining({ status: 401 }),
      );
    }
  });

  test("refuse an unknown key, a wrong key and a header that names another key with 401", () => {
    for (const text of [signCompact(PAYLOAD, key), signCompactBatch([PAYLOAD, "{}"], key)[0]!]) {
      verifyCompact(text, keyOf);
      expect(() => verifyCompact(text, () => undefined)).toThrow(
        expect.objectContaining({
          status: 401,
          message: expect.stringContaining(key.kid) as string,
        }),
      );
      expect(() => verifyCompact(text, () => keys.get(otherKey.kid))).toThrow(
        expect.objectContaining({
          status: 401,
          message: expect.stringContaining(otherKey.kid) as string,
        }),
      );
      const header = text.slice(0, text.indexOf("."));
      const theirs = textToBase64url(
        new TextDecoder().decode(fromBase64url(header)).replace(key.kid, otherKey.kid),
      );
      expect(refusal(theirs + text.slice(header.length)).status).toBe(401);
    }
  });
});

describe("tampering", () => {
  const batch = signCompactBatch([PAYLOAD, "{}", "[]"], key);
  test.each([
    ["a lone envelope", signCompact(PAYLOAD, key)],
    ["an envelope of a batch", batch[0]!],
  ])("with any single character of %s is refused (HARDENING 12)", (_, text) => {
    const alphabet = [..."AQgw_-9/+=. \n\0é.,~"];
    for (let at = 0; at < text.length; at++) {
      const near = String.fromCharCode(text.charCodeAt(at) + 1);
      for (const piece of [near, alphabet[at % alphabet.length]!, ""]) {
        if (piece === text[at]) continue;
        const status = refusal(text.slice(0, at) + piece + text.slice(at + 1)).status;
        expect([400, 401]).toContain(status);
      }
      expect([400, 401]).toContain(refusal(`${text.slice(0, at)}A${text.slice(at)}`).status);
    }
    for (const extra of ["=", "==", "A", "\n", ".", " ", "\0"]) {
      expect(refusal(text + extra).status).toBe(400);
      expect(refusal(extra + text).status).toBe(400);
    }
  });

  test("with parts of two envelopes combined is refused", () => {
    const one = signCompact(PAYLOAD, key).split(".");
    const two = signCompact('{"n":2}', key).split(".");
    const three = batch[1]!.split(".");
    for (let mix = 1; mix < 26; mix++) {
      const choice = [mix % 3, Math.floor(mix / 3) % 3, Math.floor(mix / 9) % 3];
      if (choice.every((c) => c === choice[0])) continue;
      // One and two have the same header: then payload and signature have to differ.
      if (choice[0]! < 2 && choice[1] === choice[2]) continue;
      const text = choice.map((c, part) => [one, two, three][c]![part]).join(".");
      expect([400, 401]).toContain(refusal(text).status);
    }
  });

  // The last character of 64 bytes holds two bits and of 32 bytes four: the other bits are unused.
  test("unused bits, padding, plain base64 and white space are refused as other encodings (HARDENING 12)", () => {
    const text = signCompact('{"a":"??>>~~"}?', key);
    const spare = (part: string) => {
      const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      return part.slice(0, -1) + digits[digits.indexOf(part.at(-1)!) + 1]!;
    };
    const spellings: ((part: string) => string)[] = [
      (part) => (part.length % 4 === 0 ? part : spare(part)),
      (part) => part + "=".repeat((4 - (part.length % 4)) % 4),
      (part) => part.replaceAll("-", "+").replaceAll("_", "/"),
      (part) => `${part}\n`,
      (part) => `${part.slice(0, 4)} ${part.slice(4)}`,
    ];
    let refused = 0;
    for (const part of [0, 1, 2]) {
      for (const spell of spellings) {
        const parts = text.split(".");
        parts[part] = spell(parts[part]!);
        if (parts.join(".") === text) continue;
        const error = refusal(parts.join("."));
        expect(error.status).toBe(400);
        expect(error.message).toMatch(/base64url/);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(10);
  });
});

describe("headers (HARDENING 13)", () => {
  const kid = key.kid;
  const alg = "Ed25519";
  const typ = "waybill+jws";
  test.each<[string, RegExp]>([
    [JSON.stringify({ alg: "none", kid, typ }), /alg is "none"; only Ed25519 and Ed25519-batch/],
    [JSON.stringify({ alg: "None", kid, typ }), /alg is "None"/],
    [JSON.stringify({ alg: "", kid, typ }), /alg is ""/],
    [JSON.stringify({ alg: "EdDSA", kid, typ }), /alg is "EdDSA"/],
    [JSON.stringify({ alg: "HS256", kid, typ }), /alg is "HS256"/],
    [JSON.stringify({ alg: "ed25519", kid, typ }), /alg is "ed25519"/],
    [JSON.stringify({ alg: "Ed25519 ", kid, typ }), /alg is "Ed25519 "/],
    [JSON.stringify({ alg: ["Ed25519"], kid, typ }), /alg is an array/],
    [JSON.stringify({ alg: null, kid, typ }), /alg is null/],
    [JSON.stringify({ alg: "toString", kid, typ }), /alg is "toString"/],
    [JSON.stringify({ kid, typ }), /alg is missing/],
    [JSON.stringify({ alg, typ }), /kid is missing/],
    [JSON.stringify({ alg, kid }), /typ is missing/],
    [JSON.stringify({ alg, kid, typ: "JWT" }), /typ is "JWT"/],
    [JSON.stringify({ alg, kid, typ: "application/waybill+jws" }), /typ is/],
    [JSON.stringify({ alg, kid: kid.slice(1), typ }), /kid is/],
    [JSON.stringify({ alg, kid: `${kid}A`, typ }), /kid is/],
    [JSON.stringify({ alg, kid: kid.replace(/.$/, "B"), typ }), /kid is/],
    [JSON.stringify({ alg, kid: `${kid.slice(1)}=`, typ }), /kid is/],
    [JSON.stringify({ alg, kid: 7, typ }), /kid is 7/],
    [JSON.stringify({ alg, kid, typ, crit: ["b64"] }), /member "crit"/],
    [JSON.stringify({ alg, kid, typ, b64: false }), /member "b64"/],
    [JSON.stringify({ alg, kid, typ, jwk: key.jwk }), /member "jwk"/],
    [JSON.stringify({ alg, jku: "https://example.org/keys", kid, typ }), /member "jku"/],
    [JSON.stringify({ alg, kid, typ, x5c: [] }), /member "x5c"/],
    [JSON.stringify({ alg, kid, typ, zip: "DEF" }), /member "zip"/],
    [JSON.stringify({ kid, alg, typ }), /not spelled/],
    [JSON.stringify({ alg, typ, kid }), /not spelled/],
    [JSON.stringify({ alg, kid, typ }, undefined, 1), /not spelled/],
    [`${JSON.stringify({ alg, kid, typ })} `, /not spelled/],
    [JSON.stringify({ alg, kid, typ }).replace("Ed", "\\u0045d"), /not spelled/],
    [`{"alg":"none","alg":"Ed25519","kid":"${kid}","typ":"${typ}"}`, /twice/],
    [`{"alg":"Ed25519","kid":"${kid}","typ":"${typ}","typ":"${typ}"}`, /twice/],
    [`{"alg":"Ed25519","kid":"${kid}","typ":"${typ}","__proto__":{}}`, /__proto__/],
    [`\ufeff${JSON.stringify({ alg, kid, typ })}`, /can't be read/],
    ["[]", /not an object/],
    ["null", /not an object/],
    ["", /can't be read/],
    ["{", /can't be read/],
    ["[".repeat(1000), /deeper/],
    [JSON.stringify({ alg, kid, typ, pad: "x".repeat(1e5) }), /too long/],
  ])("refuses %j", (header, reason) => {
    const error = refusal(withHeader(header));
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/^This is not a Waybill JWS: /);
    expect(error.message).toMatch(reason);
    expect(error.message.length).toBeLessThan(300);
  });

  test("truncated and extended headers are refused", () => {
    const text = signCompact(PAYLOAD, key);
    verifyCompact(text, keyOf);
    for (const changed of [text.slice(1), text.slice(4), `eyJh${text}`])
      expect(refusal(changed).status).toBe(400);
  });

  test("the algorithm in the header decides the form of the signature", () => {
    const lone = signCompact(PAYLOAD, key).split(".");
    const batch = signCompactBatch([PAYLOAD], key)[0]!.split(".");
    expect(refusal([lone[0], lone[1], batch[2]].join("."))).toMatchObject({ status: 400 });
    expect(refusal([batch[0], batch[1], lone[2]].join("."))).toMatchObject({ status: 400 });
    const inner = toBase64url(fromBase64url(batch[2]!)!.slice(8));
    expect(refusal([lone[0], lone[1], inner].join(".")).status).toBe(401);
  });
});

describe("shape", () => {
  const [header, payload, signature] = signCompact(PAYLOAD, key).split(".") as [
    string,
    string,
    string,
  ];

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a number", 7],
    ["an object", { payload, signatures: [] }],
    ["bytes", utf8(`${header}.${payload}.${signature}`)],
    ["a String object", new String(`${header}.${payload}.${signature}`)],
    ["nothing", ""],
    ["one part", header],
    ["two parts", `${header}.${payload}`],
    ["four parts", `${header}.${payload}.${signature}.`],
    ["five parts, as of a JWE", `${header}.${payload}.${signature}..`],
    ["dots only", ".."],
    ["no signature", `${header}.${payload}.`],
    ["no header", `.${payload}.${signature}`],
    ["a short signature", `${header}.${payload}.${signature.slice(0, 80)}`],
    ["two signatures", `${header}.${payload}.${toBase64url(new Uint8Array(128))}`],
    ["JSON form", JSON.stringify({ protected: header, payload, signature })],
  ])("refuses %s with 400", (_, text) => {
    const error = refusal(text);
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/^This is not a Waybill JWS: /);
    expect(() => readCompact(text)).toThrow(expect.objectContaining({ status: 400 }));
  });

  test("refuses a detached payload with 401: the signature covers a present one", () => {
    expect(refusal(`${header}..${signature}`).status).toBe(401);
  });

  test("refuses a payload that is not UTF-8 with 400, even with a valid signature", () => {
    for (const bytes of [
      [0xff],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe2, 0x82],
    ]) {
      const input = `${header}.${toBase64url(Uint8Array.from(bytes))}`;
      const error = refusal(`${input}.${toBase64url(key.sign(utf8(input)))}`);
      expect(error).toMatchObject({ status: 400 });
      expect(error.message).toContain("UTF-8");
    }
  });

  test("refuses input over the limit with 413, to the byte (HARDENING 24)", () => {
    const text = signCompact(PAYLOAD, key);
    expect(verifyCompact(text, keyOf, { limits: { envelopeBytes: text.length } }).payload).toBe(
      PAYLOAD,
    );
    expect(refusal(text, { limits: { envelopeBytes: text.length - 1 } }).status).toBe(413);
    expect(refusal("A".repeat(LIMITS.envelopeBytes + 1)).status).toBe(413);
    expect(refusal(".".repeat(LIMITS.envelopeBytes + 1)).status).toBe(413);
    expect(refusal(".".repeat(LIMITS.envelopeBytes)).status).toBe(400);
  });

  test("readCompact splits without a key, and verifies nothing", () => {
    const text = `${header}.${payload}.${signature}`;
    expect(readCompact(text)).toEqual({
      alg: "Ed25519",
      kid: key.kid,
      signingInput: `${header}.${payload}`,
      payload: PAYLOAD,
      signature: fromBase64url(signature),
    });
    expect(readCompact(`${header}.${textToBase64url("{}")}.${signature}`).payload).toBe("{}");
  });
});

test(
  "20,000 mutated envelopes: accepted as they were signed, or refused with 400, 401 or 413",
  PATIENT,
  () => {
    const seeds = [signCompact(PAYLOAD, key), ...signCompactBatch([PAYLOAD, "{}", "[1]"], key)];
    const pieces = [
      "",
      "A",
      "_",
      "-",
      ".",
      "..",
      "=",
      "/",
      "+",
      " ",
      "\0",
      "é",
      "\ud800",
      "eyJ",
      "A".repeat(43),
      "A".repeat(900),
    ];
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...pieces)), {
          minLength: 1,
          maxLength: 3,
        }),
        (seed, edits) => {
          let text = seed;
          for (const [where, removed, piece] of edits) {
            const start = where % (text.length + 1);
            text = text.slice(0, start) + piece + text.slice(start + removed);
          }
          if (text === seed) return;
          refused++;
          expect([400, 401, 413]).toContain(
            refusal(text, { limits: { envelopeBytes: 1000 } }).status,
          );
        },
      ),
      { numRuns: 20_000 },
    );
    expect(refused).toBeGreaterThan(15_000);
  },
);

/// <reference types="node" />
import { Point } from "@noble/ed25519";
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as portable from "../ed25519-portable.ts";
import * as ed25519 from "../ed25519.ts";
import { parseManifest, privateKeyFrom, publicKeyFrom, thumbprint } from "../index.ts";
import { editor, statusOf } from "./rules-fixture.ts";

const PATHS: [string, Pick<typeof ed25519, "verify" | "checkPublicKey">][] = [
  ["node", ed25519],
  ["portable", portable],
];

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const SECRET = 0x1234567890abcdefn ** 3n;
const NONCE = 0xfedcba0987654321n ** 3n;
const KEY = Point.BASE.multiply(SECRET);
const R = Point.BASE.multiply(NONCE);
/** A point of order 8: added to another one it makes a point that verifiers disagree about. */
const TORSION = Point.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");

/** Every encoding of a point of small order, without the sign bit; the last two are 0 and 1 plus p. */
const SMALL_ORDER = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].flatMap((hex) => [bytes(hex), bytes(hex, 0x80)]);
const IDENTITY = bytes("0100000000000000000000000000000000000000000000000000000000000000");

function bytes(hex: string, sign = 0): Uint8Array {
  const made = new Uint8Array(Buffer.from(hex, "hex"));
  made[31]! |= sign;
  return made;
}

function number(littleEndian: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(littleEndian.toReversed()).toString("hex")}`);
}

function scalar(value: bigint): Uint8Array {
  return bytes(value.toString(16).padStart(64, "0")).reverse();
}

function challenge(r: Uint8Array, key: Uint8Array, message: Uint8Array): bigint {
  const hash = createHash("sha512").update(r).update(key).update(message).digest();
  return number(new Uint8Array(hash)) % L;
}

/** What the holder of a secret can sign with any R, under any encoding of its key. */
function signed(r: Uint8Array, nonce: bigint, key: Uint8Array, secret: bigint, text: string) {
  const message = new Uint8Array(Buffer.from(text));
  const s = (nonce + challenge(r, key, message) * secret) % L;
  return { message, s, signature: new Uint8Array(Buffer.concat([r, scalar(s)])) };
}

describe.each(PATHS)("%s", (_, { verify, checkPublicKey }) => {
  const key = KEY.toBytes();
  const honest = signed(R.toBytes(), NONCE, key, SECRET, "pay");

  test("WB-12 a signature is valid if [S]B − [k]A is R itself, and not R plus torsion", () => {
    expect(verify(honest.signature, honest.message, key)).toBe(true);
    for (let times = 1n; times < 8n; times++) {
      const r = R.add(TORSION.multiply(times)).toBytes();
      const { signature, message } = signed(r, NONCE, key, SECRET, "pay");
      // With the cofactor the equation holds, because 8 times the torsion is zero.
      expect(verify(signature, message, key), `torsion ${times}`).toBe(false);
    }
    const opposite = signed(R.negate().toBytes(), NONCE, key, SECRET, "pay");
    expect(verify(opposite.signature, opposite.message, key)).toBe(false);
    const another = signed(R.toBytes(), NONCE + 1n, key, SECRET, "pay");
    expect(verify(another.signature, another.message, key)).toBe(false);
    expect(verify(honest.signature, Buffer.from("pay more"), key)).toBe(false);
  });

  test("WB-13 S plus the group order is not another valid signature", () => {
    for (let s = honest.s + L; s < 2n ** 256n; s += L) {
      const signature = new Uint8Array(Buffer.concat([R.toBytes(), scalar(s)]));
      expect(verify(signature, honest.message, key)).toBe(false);
    }
    for (const s of [L, L + 1n, 2n ** 253n, 2n ** 256n - 1n]) {
      const signature = new Uint8Array(Buffer.concat([R.toBytes(), scalar(s)]));
      expect(verify(signature, honest.message, key)).toBe(false);
    }
  });

  test("WB-14 an R of small order is refused, even if the equation holds", () => {
    const { signature, message, s } = signed(IDENTITY, 0n, key, SECRET, "pay");
    const left = Point.BASE.multiply(s).subtract(KEY.multiply(challenge(IDENTITY, key, message)));
    expect(left.toBytes()).toEqual(IDENTITY);
    expect(verify(signature, message, key)).toBe(false);
    for (const r of SMALL_ORDER) {
      const one = signed(r, 0n, key, SECRET, "pay");
      expect(verify(one.signature, one.message, key), Buffer.from(r).toString("hex")).toBe(false);
    }
  });

  test("WB-15 a key that is not canonical, off the curve, of small order or with torsion is refused", () => {
    expect(checkPublicKey(key)).toBe(true);
    const p = 2n ** 255n - 19n;
    const notCanonical = Array.from({ length: 19 }, (_value, i) => scalar(p + BigInt(i)));
    const offCurve = [2n, 7n, 8n].map(scalar);
    const mixed = Array.from({ length: 7 }, (_value, i) =>
      KEY.add(TORSION.multiply(BigInt(i + 1))).toBytes(),
    );
    const short = [key.slice(0, 31), new Uint8Array([...key, 0]), new Uint8Array()];
    for (const weak of [...notCanonical, ...offCurve, ...SMALL_ORDER, ...mixed, ...short]) {
      expect(checkPublicKey(weak), Buffer.from(weak).toString("hex")).toBe(false);
    }
  });

  test("WB-15 no signature is valid under such a key, even if the equation holds", () => {
    // Under the identity one signature holds for every message.
    const forged = new Uint8Array(Buffer.concat([R.toBytes(), scalar(NONCE % L)]));
    for (const weak of SMALL_ORDER) {
      for (const text of ["pay", "pay more"]) {
        expect(verify(forged, Buffer.from(text), weak), text).toBe(false);
      }
    }
    const mixed = KEY.add(TORSION).toBytes();
    for (let i = 0; ; i++) {
      const one = signed(R.toBytes(), NONCE, mixed, SECRET, `pay ${i}`);
      // Only if the challenge is a multiple of 8 does the torsion vanish.
      if (challenge(R.toBytes(), mixed, one.message) % 8n !== 0n) continue;
      expect(verify(one.signature, one.message, mixed)).toBe(false);
      break;
    }
  });
});

test("WB-15 enrolment answers a weak key with 401, in a manifest too", () => {
  const mixed = KEY.add(TORSION).toBytes();
  for (const weak of [IDENTITY, mixed, scalar(2n), scalar(2n ** 255n - 19n + 3n)]) {
    const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(weak).toString("base64url") };
    expect(statusOf(() => publicKeyFrom(weak))).toBe(401);
    expect(statusOf(() => publicKeyFrom(jwk))).toBe(401);
    const manifest = { agent_id: "a", capabilities: [], keys: [jwk] };
    expect(statusOf(() => parseManifest(manifest))).toBe(401);
  }
});

test("WB-16 the kid is the RFC 7638 thumbprint, as RFC 8037 gives it in appendix A.3", () => {
  const jwk = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
  const key = publicKeyFrom(jwk);
  expect(key.kid).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  expect(thumbprint(key.publicKey)).toBe(key.kid);
});

test("WB-17 a public key is a JWK with kty, crv and x, and one with a d is refused with 400", () => {
  expect(publicKeyFrom({ ...editor.jwk, use: "sig" }).kid).toBe(editor.kid);
  const secrets = [editor.privateJwk(), { ...editor.jwk, d: "" }, { ...editor.jwk, d: null }];
  for (const secret of secrets) {
    expect(statusOf(() => publicKeyFrom(secret))).toBe(400);
    const manifest = { agent_id: "a", capabilities: [], keys: [secret] };
    expect(statusOf(() => parseManifest(manifest))).toBe(400);
  }
  const { kty, crv, x } = editor.jwk;
  const incomplete = [
    { crv, x },
    { kty, x },
    { kty, crv },
    { kty: "EC", crv, x },
  ];
  for (const other of [...incomplete, { kty, crv: "X25519", x }, x, null, []]) {
    expect(
      statusOf(() => publicKeyFrom(other)),
      JSON.stringify(other),
    ).not.toBe("taken");
  }
  expect(privateKeyFrom(editor.privateJwk()).jwk).toEqual(editor.jwk);
});

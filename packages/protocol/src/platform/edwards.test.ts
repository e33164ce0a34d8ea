/// <reference types="node" />
import { hashes, Point, verify as verifyLoosely } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { describe, expect, test } from "vitest";
import * as node from "./platform.node.ts";
import * as portable from "./platform.ts";
import { sodiumPlatform } from "./sodium-fixture.ts";

// The hostile cases are computed here from the curve and not copied from anywhere. noble's loose
// verifier (ZIP 215) accepts each of them, which shows that they are real attacks.
hashes.sha512 = sha512;

const P = Point.CURVE().p;
const L = Point.CURVE().n;
const PATHS: [string, typeof node][] = [
  ["node", node],
  ["portable", portable],
  ["node with sodium-native", sodiumPlatform],
];

interface Signed {
  signature: Uint8Array;
  message: Uint8Array;
  publicKey: Uint8Array;
}

function fromNumber(value: bigint): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse());
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`);
}

function join(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}

function times(point: Point, factor: bigint): Point {
  return point.multiplyUnsafe(factor % L);
}

/** The eight points of the torsion group: the multiples of one of order 8. */
const TORSION: Point[] = torsion();

function torsion(): Point[] {
  for (let y = 2n; ; y++) {
    let point: Point;
    try {
      point = Point.fromBytes(fromNumber(y));
    } catch {
      continue;
    }
    const small = point.multiplyUnsafe(L - 1n).add(point);
    if (small.double().double().is0()) continue;
    const all = [Point.ZERO];
    for (let i = 1; i < 8; i++) all.push(all[i - 1]!.add(small));
    return all;
  }
}

/** Every 32 bytes that a lenient decoder accepts for one of those points. */
const SMALL_ORDER: Uint8Array[] = TORSION.flatMap((point) => {
  const { x, y } = point.toAffine();
  const ys = y + P < 1n << 255n ? [y, y + P] : [y];
  const signs = x === 0n ? [0n, 1n] : [x & 1n];
  return ys.flatMap((one) => signs.map((sign) => fromNumber(one | (sign << 255n))));
});

const NON_CANONICAL: Uint8Array[] = Array.from({ length: 38 }, (_, i) =>
  fromNumber((P + BigInt(i >> 1)) | (BigInt(i & 1) << 255n)),
);

function challenge(r: Uint8Array, publicKey: Uint8Array, message: Uint8Array): bigint {
  return toNumber(sha512(join(r, publicKey, message))) % L;
}

/** What the holder of `secret` can sign with any R and any encoding of its key: S = nonce + k·secret. */
function signWith(
  secret: bigint,
  nonce: bigint,
  r: Uint8Array,
  key: Uint8Array,
  message: Uint8Array,
): Signed {
  const s = (nonce + challenge(r, key, message) * secret) % L;
  return { signature: join(r, fromNumber(s)), message, publicKey: key };
}

const SECRET = 0x1234567890abcdefn ** 3n;
const NONCE = 0xfedcba0987654321n ** 3n;
const KEY = times(Point.BASE, SECRET);
const R = times(Point.BASE, NONCE);
const TEXT = new TextEncoder().encode("a message");

/** A message whose challenge, with these bytes, is `rest` modulo 8. */
function grind(r: Uint8Array, key: Uint8Array, rest: bigint): Uint8Array {
  for (let i = 0; ; i++) {
    const message = new TextEncoder().encode(`message ${i}`);
    if (challenge(r, key, message) % 8n === rest) return message;
  }
}

const KINDS = ["small", "mixed", "prime"] as const;

interface Hostile extends Signed {
  name: string;
  isCofactorless: boolean;
}

/**
 * Keys and R of each kind, in every combination but the honest one. The torsion of R is the opposite
 * of the key's, so that the equation holds for every verifier that multiplies by the cofactor, and
 * with the right message for those that do not, too.
 */
const HOSTILE: Hostile[] = KINDS.flatMap((ofKey) =>
  KINDS.flatMap((ofR) => TORSION.slice(1).flatMap((_, i) => hostile(ofKey, ofR, i + 1))),
);

type Kind = (typeof KINDS)[number];

function hostile(ofKey: Kind, ofR: Kind, t: number): Hostile[] {
  if (ofKey === "prime" && ofR === "prime") return [];
  const secret = ofKey === "small" ? 0n : SECRET;
  const nonce = ofR === "small" ? 0n : NONCE;
  const key = times(Point.BASE, secret).add(TORSION[ofKey === "prime" ? 0 : t]!);
  const r = times(Point.BASE, nonce).add(TORSION[ofR === "prime" ? 0 : 8 - t]!);
  const [keyBytes, rBytes] = [key.toBytes(), r.toBytes()];
  const cancels = ofR === "prime" ? 0n : 1n;
  return (ofKey === "prime" ? [false] : [true, false]).map((isCofactorless) => {
    const message = grind(rBytes, keyBytes, isCofactorless ? cancels : cancels + 1n);
    const signed = signWith(secret, nonce, rBytes, keyBytes, message);
    const equation = isCofactorless ? "the plain equation" : "the equation times the cofactor";
    const name = `${ofKey} key, ${ofR} R, torsion ${t}: ${equation} holds`;
    return { ...signed, name, isCofactorless };
  });
}

function holdsPlainly({ signature, message, publicKey }: Signed): boolean {
  const r = signature.subarray(0, 32);
  const k = challenge(r, publicKey, message);
  const left = times(Point.BASE, toNumber(signature.subarray(32)));
  return left.equals(Point.fromBytes(r).add(times(Point.fromBytes(publicKey), k)));
}

describe.each(PATHS)("%s", (_, { checkPublicKey, verify }) => {
  function verdict({ signature, message, publicKey }: Signed): boolean {
    return verify(signature, message, publicKey);
  }

  test("signatures built here from honest parts are valid, so the others are refused for their fault", () => {
    expect(verdict(signWith(SECRET, NONCE, R.toBytes(), KEY.toBytes(), TEXT))).toBe(true);
    expect(checkPublicKey(Point.BASE.toBytes())).toBe(true);
  });

  test("small-order points have 14 encodings: none is accepted as a key or an R", () => {
    expect(new Set(SMALL_ORDER.map(String)).size).toBe(14);
    for (const bytes of SMALL_ORDER) {
      expect(Point.fromBytes(bytes, true).isSmallOrder()).toBe(true);
      expect(checkPublicKey(bytes)).toBe(false);
      expect(verdict(signWith(SECRET, 0n, bytes, KEY.toBytes(), TEXT))).toBe(false);
    }
    const identity = signWith(SECRET, 0n, Point.ZERO.toBytes(), KEY.toBytes(), TEXT);
    expect(holdsPlainly(identity)).toBe(true);
    expect(verdict(identity)).toBe(false);
  });

  test("a key whose y is not below p is refused", () => {
    for (const bytes of NON_CANONICAL) expect(checkPublicKey(bytes)).toBe(false);
  });

  test("under a small-order key one signature would hold for every message", () => {
    const forged = join(R.toBytes(), fromNumber(NONCE % L));
    for (const key of SMALL_ORDER) {
      for (const text of ["pay", "pay more"]) {
        const message = new TextEncoder().encode(text);
        expect(verifyLoosely(forged, message, key)).toBe(true);
        expect(verify(forged, message, key)).toBe(false);
      }
    }
  });

  test("S plus the group order is not another valid signature", () => {
    const { signature, publicKey } = signWith(SECRET, NONCE, R.toBytes(), KEY.toBytes(), TEXT);
    const s = toNumber(signature.subarray(32));
    const others = [0n, 1n, L - 1n, L, L + 1n, (1n << 255n) - 1n, (1n << 256n) - 1n];
    for (let more = s + L; more < 1n << 256n; more += L) others.push(more);
    for (const other of others) {
      expect(verify(join(R.toBytes(), fromNumber(other)), TEXT, publicKey)).toBe(false);
    }
  });

  test.each(HOSTILE)("$name", (hostileOne) => {
    const { signature, message, publicKey, isCofactorless } = hostileOne;
    expect(holdsPlainly(hostileOne)).toBe(isCofactorless);
    expect(verifyLoosely(signature, message, publicKey)).toBe(true);
    expect(verdict(hostileOne)).toBe(false);
    expect(checkPublicKey(publicKey)).toBe(publicKey.every((byte, i) => byte === KEY.toBytes()[i]));
  });
});

// WAYBILL_CASES makes it longer, WAYBILL_SEED repeats a run.
const CASES = Number(process.env.WAYBILL_CASES ?? 20_000);
const SEED = Number(process.env.WAYBILL_SEED ?? Date.now()) >>> 0;

test(
  `all implementations agree on ${CASES} keys, signatures and messages, seed ${SEED}`,
  { timeout: 1e9 },
  () => {
    const random = generator(SEED);
    const below = (limit: number): number => Math.floor(random() * limit);
    const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
    const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, () => below(256));
    const scalar = (): bigint => toNumber(bytesOf(32)) % L;

    const people = Array.from({ length: 12 }, () => {
      const seed = bytesOf(32);
      return { sign: node.signer(seed), publicKey: node.publicKeyOf(seed) };
    });
    const secrets = Array.from({ length: 6 }, () => {
      const secret = scalar();
      const point = times(Point.BASE, secret);
      return { secret, keys: TORSION.map((t) => point.add(t).toBytes()) };
    });
    const nonces = Array.from({ length: 24 }, () => {
      const nonce = scalar();
      const point = times(Point.BASE, nonce);
      return { nonce, points: TORSION.map((t) => point.add(t).toBytes()) };
    });
    // Judging a key costs as much as a signature, so hostile keys come from a pool.
    const strangeKeys = Array.from({ length: 400 }, () =>
      random() < 0.5 ? bytesOf(32) : flip(pick(people).publicKey, below(256)),
    );

    const honest = (): Signed => {
      const { sign, publicKey } = pick(people);
      const message = bytesOf(below(80));
      return { signature: sign(message), message, publicKey };
    };
    const withTorsion = (ofKey: number, ofR: number): Signed => {
      const { secret, keys } = pick(secrets);
      const { nonce, points } = pick(nonces);
      return signWith(secret, nonce, points[ofR]!, keys[ofKey]!, bytesOf(below(80)));
    };
    const withR = (signed: Signed, r: Uint8Array): Signed => ({
      ...signed,
      signature: join(r, signed.signature.subarray(32)),
    });
    const withS = (signed: Signed, s: bigint): Signed => ({
      ...signed,
      signature: join(signed.signature.subarray(0, 32), fromNumber(s)),
    });

    const MUTATIONS: ((signed: Signed) => Signed)[] = [
      (one) => ({ ...one, signature: flip(one.signature, below(256)) }),
      (one) => ({ ...one, signature: flip(one.signature, 256 + below(252)) }),
      (one) => ({ ...one, message: flip(one.message, below(8 * one.message.length)) }),
      (one) => ({ ...one, publicKey: pick(strangeKeys) }),
      (one) => ({ ...one, publicKey: flip(one.publicKey, 255) }),
      (one) => ({ ...one, publicKey: pick(people).publicKey }),
      (one) => ({ ...one, publicKey: pick(SMALL_ORDER) }),
      (one) => ({ ...one, publicKey: pick(NON_CANONICAL) }),
      (one) => ({ ...one, publicKey: one.publicKey.subarray(0, below(32)) }),
      (one) => ({ ...one, publicKey: join(one.publicKey, bytesOf(1)) }),
      (one) => ({ ...one, signature: one.signature.subarray(0, below(64)) }),
      (one) => ({ ...one, signature: join(one.signature, bytesOf(1)) }),
      (one) => withR(one, pick(SMALL_ORDER)),
      (one) => withR(one, pick(NON_CANONICAL)),
      (one) => withS(one, toNumber(one.signature.slice(32, 64)) + L * BigInt(1 + below(14))),
      (one) => withS(one, pick([0n, 1n, L - 1n, L, L + 1n, 2n * L, (1n << 255n) - 19n])),
      () => withTorsion(below(8), below(8)),
      () => withTorsion(0, 1 + below(7)),
      () => withTorsion(1 + below(7), 0),
      () =>
        signWith(pick(secrets).secret, 0n, pick(SMALL_ORDER), pick(pick(secrets).keys), bytesOf(9)),
      () => signWith(0n, 0n, pick(SMALL_ORDER), pick(SMALL_ORDER), bytesOf(9)),
    ];
    const seen = { valid: 0, equation: 0, refusedKey: 0 };

    for (let i = 0; i < CASES; i++) {
      const original = random() < 0.1 ? withTorsion(0, 0) : honest();
      let one = original;
      const count = pick([0, 1, 1, 1, 1, 1, 1, 2, 2]);
      for (let n = 0; n < count; n++) {
        // The second mutation may meet what the first one has truncated.
        if (n === 0 || one.signature.length === 64) one = pick(MUTATIONS)(one);
      }
      const { signature, message, publicKey } = one;
      const verdict = node.verify(signature, message, publicKey);
      const hex = [signature, message, publicKey].map((part) => Buffer.from(part).toString("hex"));
      const about = `seed ${SEED}, case ${i}: signature ${hex[0]}, message ${hex[1]}, key ${hex[2]}`;
      expect(portable.verify(signature, message, publicKey), about).toBe(verdict);
      expect(sodiumPlatform.verify(signature, message, publicKey), about).toBe(verdict);
      if (count === 0) expect(verdict, about).toBe(true);
      const isEnrolled = node.checkPublicKey(publicKey);
      expect(portable.checkPublicKey(publicKey), about).toBe(isEnrolled);
      if (verdict) seen.valid++;
      if (!isEnrolled) seen.refusedKey++;
      if (isEnrolled && signature.length === 64 && toNumber(signature.slice(32)) < L)
        seen.equation++;
    }
    expect(seen.valid).toBeGreaterThan(CASES / 20);
    expect(seen.equation).toBeGreaterThan(CASES / 4);
    expect(seen.refusedKey).toBeGreaterThan(CASES / 10);
  },
);

/** Repeatable random numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

import { Point } from "@noble/ed25519";
import * as crypto from "node:crypto";
import type { Party } from "./parties.ts";

/** The order of the group that the base point generates. */
export const ORDER: bigint = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The eight points of small order, by their canonical encodings; the order of each in front. */
export const SMALL_ORDER: readonly (readonly [order: number, hex: string])[] = [
  [1, "0100000000000000000000000000000000000000000000000000000000000000"],
  [2, "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"],
  [4, "0000000000000000000000000000000000000000000000000000000000000000"],
  [4, "0000000000000000000000000000000000000000000000000000000000000080"],
  [8, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  [8, "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"],
  [8, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"],
  [8, "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"],
];

/** Other encodings that lenient verifiers decode to a point of small order. */
export const SMALL_ORDER_OTHERWISE: readonly (readonly [title: string, hex: string])[] = [
  ["0, written as p", "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"],
  [
    "0, written as p, with the sign",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  ],
  ["1, written as p + 1", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"],
  [
    "1, written as p + 1, with the sign",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  ],
  [
    "1 with the sign of an x that is 0",
    "0100000000000000000000000000000000000000000000000000000000000080",
  ],
  [
    "-1 with the sign of an x that is 0",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  ],
];

export function hexBytes(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}

function fromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}

export function toLittleEndian(value: bigint): Buffer {
  return hexBytes(value.toString(16).padStart(64, "0")).reverse();
}

function sha512(...parts: readonly Uint8Array[]): bigint {
  return fromLittleEndian(crypto.createHash("sha512").update(Buffer.concat(parts)).digest());
}

/** A party's secret scalar, derived from the seed as in RFC 8032. */
export function secretOf({ seed }: Pick<Party, "seed">): bigint {
  const bytes = crypto.createHash("sha512").update(seed).digest().subarray(0, 32);
  bytes[0]! &= 0xf8;
  bytes[31] = (bytes[31]! & 0x7f) | 0x40;
  return fromLittleEndian(bytes) % ORDER;
}

export function plusTorsion(point: Point, torsionHex: string): Point {
  return point.add(Point.fromHex(torsionHex));
}

function challengeOf(r: Uint8Array, keyBytes: Uint8Array, message: Uint8Array): bigint {
  return sha512(r, keyBytes, message) % ORDER;
}

/** A nonce for which the challenge is a multiple of 8, so that torsion in the key cancels out. */
export function torsionBlindNonce(message: Uint8Array, keyBytes: Uint8Array): bigint {
  let nonce = 1n;
  while (challengeOf(basePoint(nonce).toBytes(), keyBytes, message) % 8n !== 0n) nonce++;
  return nonce;
}

/** A signature with the caller's R and key; `nonce` is the logarithm of R without torsion. */
export function signWith(
  message: Uint8Array,
  secret: bigint,
  keyBytes: Uint8Array,
  nonce: bigint,
  r: Uint8Array,
): Buffer {
  const challenge = challengeOf(r, keyBytes, message);
  return Buffer.concat([r, toLittleEndian((nonce + challenge * secret) % ORDER)]);
}

export function basePoint(scalar: bigint): Point {
  return Point.BASE.multiply(scalar);
}

/** The same signature for a verifier that does not check the range of S. */
export function withSPlusOrder(signature: Uint8Array): Buffer {
  const s = fromLittleEndian(signature.subarray(32)) + ORDER;
  return Buffer.concat([signature.subarray(0, 32), toLittleEndian(s)]);
}

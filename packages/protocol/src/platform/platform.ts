import { Point, etc } from "@noble/ed25519";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as sha2, sha512 } from "@noble/hashes/sha2.js";
import { assertMessage, assertPrivateKey, verification } from "./edwards.ts";
import type { Signer, Verification } from "./edwards.ts";

/** SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return sha2(bytes);
}

/** Writes a hash into a buffer. */
export function sha256Into(target: Uint8Array, at: number, bytes: Uint8Array): void {
  target.set(sha256(bytes), at);
}

const ALPHABET = utf8("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
const NO_DIGIT = 255;
const DIGITS = new Uint8Array(128).fill(NO_DIGIT);
ALPHABET.forEach((character, digit) => (DIGITS[character] = digit));

/** SHA-256 of a text in UTF-8. */
export function sha256OfText(text: string): Uint8Array {
  return sha256(utf8(text));
}

/** SHA-256 of bytes that are added in pieces, in lower-case hex. */
export function runningSha256(): { update(bytes: Uint8Array): void; hex(): string } {
  const hash = sha2.create();
  return { update: (bytes) => void hash.update(bytes), hex: () => etc.bytesToHex(hash.digest()) };
}

/** SHA-256 of a text in UTF-8, in lower-case hex. */
export function sha256Hex(text: string): string {
  return etc.bytesToHex(sha256(utf8(text)));
}

/** HMAC of RFC 2104 with SHA-256. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(sha2, key, message);
}

/** Compares in constant time. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** Bytes in unpadded base64url. */
export function toBase64url(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  for (let from = 0, to = 0; from < bytes.length; from += 3) {
    const three = (bytes[from]! << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0);
    // The array drops what would be written behind its end: that is the missing padding.
    for (let shift = 18; shift >= 0; shift -= 6) text[to++] = ALPHABET[(three >> shift) & 63]!;
  }
  return new TextDecoder().decode(text);
}

/** The UTF-8 of a text, in unpadded base64url. */
export function textToBase64url(text: string): string {
  return toBase64url(utf8(text));
}

/** The bytes, or undefined for a text that `toBase64url` does not write: bytes have only one encoding. */
export function fromBase64url(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let pending = 0;
  let to = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = DIGITS[text.charCodeAt(i)] ?? NO_DIGIT;
    if (digit === NO_DIGIT) return undefined;
    pending = ((pending << 6) | digit) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[to++] = pending >> bits;
  }
  const unused = pending & ((1 << bits) - 1);
  return unused === 0 ? bytes : undefined;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The text, with a byte order mark kept; undefined for bytes that are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** At most 65,536 bytes at once, as on every platform. */
export function randomBytes(length: number): Uint8Array {
  return globalThis.crypto.getRandomValues(new Uint8Array(length));
}

/** The public key that belongs to a private one: 32 bytes each. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return expand(privateKey).publicKey;
}

// Signing and verifying are built from points here, instead of noble's `sign` and `verify`. Those take
// SHA-512 from a slot that all users of noble in a program share, and its `verify` multiplies by the
// cofactor, so that torsion in R passes.
export function signer(privateKey: Uint8Array): Signer {
  const { scalar, prefix, publicKey } = expand(privateKey);
  return (message) => {
    assertMessage(message);
    const nonce = modOrder(sha512(etc.concatBytes(prefix, message)));
    const r = Point.BASE.multiply(nonce).toBytes();
    const s = modOrder(challenge(r, publicKey, message) * scalar + nonce);
    return etc.concatBytes(r, littleEndian(s));
  };
}

/** Signs a message with Ed25519. Use `signer` for many messages under one key. */
export function sign(message: Uint8Array, privateKey: Uint8Array): Uint8Array {
  return signer(privateKey)(message);
}

const ed25519 = verification((publicKey, point) => {
  return (message, signature) => {
    const r = signature.subarray(0, 32);
    const k = challenge(r, publicKey, message);
    const expected = Point.BASE.multiplyUnsafe(toNumber(signature.subarray(32)))
      .subtract(point.multiplyUnsafe(k))
      .toBytes();
    return expected.every((byte, i) => byte === r[i]);
  };
});

/** Undefined for a key that `checkPublicKey` refuses. */
export const verifier: Verification["verifier"] = ed25519.verifier;
/** Whether a signature is valid by the cofactorless equation of RFC 8032. */
export const verify: Verification["verify"] = ed25519.verify;
/** Whether a key may be enrolled: canonical, on the curve, torsion-free and not of small order. */
export const checkPublicKey: Verification["checkPublicKey"] = ed25519.checkPublicKey;

/** The key expansion of RFC 8032 §5.1.5. */
function expand(privateKey: Uint8Array): {
  scalar: bigint;
  prefix: Uint8Array;
  publicKey: Uint8Array;
} {
  assertPrivateKey(privateKey);
  const digest = sha512(privateKey);
  const head = digest.subarray(0, 32);
  head[0]! &= 0xf8;
  head[31] = (head[31]! & 0x7f) | 0x40;
  const scalar = modOrder(head);
  return { scalar, prefix: digest.subarray(32), publicKey: Point.BASE.multiply(scalar).toBytes() };
}

function challenge(r: Uint8Array, publicKey: Uint8Array, message: Uint8Array): bigint {
  return modOrder(sha512(etc.concatBytes(r, publicKey, message)));
}

function modOrder(value: bigint | Uint8Array): bigint {
  return etc.mod(typeof value === "bigint" ? value : toNumber(value), Point.CURVE().n);
}

function toNumber(littleEndianBytes: Uint8Array): bigint {
  return BigInt(`0x${etc.bytesToHex(littleEndianBytes.toReversed())}`);
}

function littleEndian(value: bigint): Uint8Array {
  return etc.hexToBytes(value.toString(16).padStart(64, "0")).reverse();
}

/// <reference types="node" />
import { Buffer, isUtf8 } from "node:buffer";
import * as crypto from "node:crypto";
import { lazy } from "../lazy.ts";
import { assertMessage, assertPrivateKey, verification } from "./edwards.ts";
import type { Signer, Verification } from "./edwards.ts";
import { nodeCrypto, publicKeyWith } from "./crypto.node.ts";
import { preferSodium } from "./sodium.node.ts";

export function sha256(bytes: Uint8Array): Uint8Array {
  const hash = new Uint8Array(32);
  sha256Into(hash, 0, bytes);
  return hash;
}

/** Writes a hash into a buffer. */
export function sha256Into(target: Uint8Array, at: number, bytes: Uint8Array): void {
  put(crypto.hash("sha256", bytes, "binary"), target, at);
}

/** SHA-256 of a text in UTF-8. */
export function sha256OfText(text: string): Uint8Array {
  const hash = new Uint8Array(32);
  put(crypto.hash("sha256", text, "binary"), hash, 0);
  return hash;
}

/**
 * Takes a third of the time of the "buffer" output, and hashing is most of the cost of a batch of
 * signatures.
 */
function put(binary: string, target: Uint8Array, at: number): void {
  for (let i = 0; i < binary.length; i++) target[at + i] = binary.charCodeAt(i);
}

/** SHA-256 of bytes that are added in pieces, in lower-case hex. */
export function runningSha256(): { update(bytes: Uint8Array): void; hex(): string } {
  const hash = crypto.createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest("hex") };
}

/** SHA-256 of a text in UTF-8, in lower-case hex. */
export function sha256Hex(text: string): string {
  return crypto.hash("sha256", text);
}

/** HMAC of RFC 2104 with SHA-256. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return plain(crypto.createHmac("sha256", key).update(message).digest());
}

/** Compares in constant time. */
export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

/** Bytes in unpadded base64url. */
export function toBase64url(bytes: Uint8Array): string {
  return view(bytes).toString("base64url");
}

// Most texts fit, and for them a buffer of their own would cost as much as the encoding. A UTF-16 unit
// takes three bytes at most.
const SCRATCH_CHARACTERS = 8192;
const scratch = Buffer.allocUnsafeSlow(3 * SCRATCH_CHARACTERS);

/** The UTF-8 of a text, in unpadded base64url. */
export function textToBase64url(text: string): string {
  if (text.length > SCRATCH_CHARACTERS) return Buffer.from(text, "utf8").toString("base64url");
  return scratch.toString("base64url", 0, scratch.write(text, "utf8"));
}

/** The bytes, or undefined for a text that `toBase64url` does not write: bytes have only one encoding. */
export function fromBase64url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64url");
  return isEncodingOf(text, bytes) ? plain(bytes) : undefined;
}

/** Encoded at a time, without a rest: the whole encoding would be garbage of the size of an envelope. */
const ENCODED_BYTES = 12 * 1024;
const ENCODED_CHARACTERS = (ENCODED_BYTES / 3) * 4;

function isEncodingOf(text: string, bytes: Buffer): boolean {
  if (text.length !== Math.ceil((bytes.length * 4) / 3)) return false;
  for (let at = 0, start = 0; at < bytes.length; at += ENCODED_BYTES) {
    const end = start + ENCODED_CHARACTERS;
    const encoded = bytes.toString("base64url", at, at + ENCODED_BYTES);
    if (encoded !== text.slice(start, end)) return false;
    start = end;
  }
  return true;
}

export function utf8(text: string): Uint8Array {
  return plain(Buffer.from(text, "utf8"));
}

/** The text, with a byte order mark kept; undefined for bytes that are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? view(bytes).toString("utf8") : undefined;
}

// A call to the generator costs more than a short id, so it generates many at once.
const pool = new Uint8Array(4096);
let poolUsed = pool.length;

/** At most 65,536 bytes at once, as on every platform. */
export function randomBytes(length: number): Uint8Array {
  if (length > 64) return globalThis.crypto.getRandomValues(new Uint8Array(length));
  if (poolUsed + length > pool.length) {
    globalThis.crypto.getRandomValues(pool);
    poolUsed = 0;
  }
  const bytes = pool.slice(poolUsed, poolUsed + length);
  // The bytes may become a key: they must not stay readable in the pool.
  pool.fill(0, poolUsed, (poolUsed += length));
  return bytes;
}

/** The public key that belongs to a private one: 32 bytes each. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  assertPrivateKey(privateKey);
  return publicKeyWith(privateKey);
}

export function signer(privateKey: Uint8Array): Signer {
  assertPrivateKey(privateKey);
  const signs = implementation().signer(privateKey);
  return (message) => {
    assertMessage(message);
    return signs(message);
  };
}

/** Signs a message with Ed25519. Use `signer` for many messages under one key. */
export function sign(message: Uint8Array, privateKey: Uint8Array): Uint8Array {
  return signer(privateKey)(message);
}

// Chosen with the first key: most programs that only import this package never sign.
const implementation = lazy(() => preferSodium(nodeCrypto));

const ed25519 = verification((publicKey) => implementation().equation(publicKey));

/** Undefined for a key that `checkPublicKey` refuses. */
export const verifier: Verification["verifier"] = ed25519.verifier;
/** Whether a signature fits, by the cofactorless equation of RFC 8032. */
export const verify: Verification["verify"] = ed25519.verify;
/** Whether a key may be enrolled: canonical, on the curve, torsion-free and not of small order. */
export const checkPublicKey: Verification["checkPublicKey"] = ed25519.checkPublicKey;

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// The `slice`, `toString` and `toJSON` of a Buffer differ from those of a Uint8Array: code that works
// with it here would break on the portable path.
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

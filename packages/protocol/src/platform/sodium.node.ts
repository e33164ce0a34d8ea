/// <reference types="node" />
import { Buffer } from "node:buffer";
import { createRequire } from "node:module";
import type { Signer, Verifier } from "./edwards.ts";
import { ONE_KEY, SIGNED } from "./known-answers.ts";

/** An implementation of Ed25519: signs, and checks the equation, with one key each. */
export interface Ed25519 {
  signer(seed: Uint8Array): Signer;
  equation(publicKey: Uint8Array): Verifier;
}

/** What is used of the package `sodium-native`. */
export interface Sodium {
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): unknown;
  crypto_sign_verify_detached(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): unknown;
}

const PUBLIC_KEY_BYTES = 32;
const SECRET_KEY_BYTES = 64;
const SIGNATURE_BYTES = 64;

/**
 * `sodium-native`, which takes about two thirds of the time, if the application has installed it and it
 * gives every known answer. Otherwise the implementation that is always there.
 */
export function preferSodium(
  otherwise: Ed25519,
  load: () => unknown = () => createRequire(import.meta.url)("sodium-native"),
): Ed25519 {
  try {
    const sodium = ed25519Of(load() as Sodium);
    return givesKnownAnswers(sodium) ? sodium : otherwise;
  } catch {
    // It is not installed, or not for this platform.
    return otherwise;
  }
}

function ed25519Of(sodium: Sodium): Ed25519 {
  return {
    signer(seed) {
      const publicKey = new Uint8Array(PUBLIC_KEY_BYTES);
      const secretKey = new Uint8Array(SECRET_KEY_BYTES);
      sodium.crypto_sign_seed_keypair(publicKey, secretKey, plain(seed));
      return (message) => {
        const signature = new Uint8Array(SIGNATURE_BYTES);
        sodium.crypto_sign_detached(signature, plain(message), secretKey);
        return signature;
      };
    },
    equation(publicKey) {
      const key = plain(publicKey);
      return (message, signature) =>
        sodium.crypto_sign_verify_detached(plain(signature), plain(message), key) === true;
    },
  };
}

/** A copy: of bytes in shared memory it would sign nothing, without an error. */
function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function givesKnownAnswers({ signer, equation }: Ed25519): boolean {
  const isSigning = SIGNED.every(({ seed, publicKey, message, signature }) => {
    const [text, expected] = [fromHex(message), fromHex(signature)];
    const holds = equation(fromHex(publicKey));
    return (
      Buffer.compare(signer(fromHex(seed))(text), expected) === 0 &&
      holds(text, expected) &&
      !holds(Buffer.concat([text, Buffer.of(0)]), expected) &&
      // A bit of R, of S, and of the end of S.
      [0, 256, 500].every((bit) => !holds(text, flip(expected, bit)))
    );
  });
  const holds = equation(fromHex(ONE_KEY.publicKey));
  const text = fromHex(ONE_KEY.message);
  return (
    isSigning &&
    holds(text, fromHex(ONE_KEY.valid)) &&
    ONE_KEY.invalid.every((signature) => !holds(text, fromHex(signature)))
  );
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}

function fromHex(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

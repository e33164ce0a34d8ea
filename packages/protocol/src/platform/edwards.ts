import { Point } from "@noble/ed25519";
import { WaybillError } from "../error.ts";

/** Signs with the one key that it holds. */
export type Signer = (message: Uint8Array) => Uint8Array;
/** Checks a signature against the one key that it holds. */
export type Verifier = (message: Uint8Array, signature: Uint8Array) => boolean;

export interface Verification {
  verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
  verifier(publicKey: Uint8Array): Verifier | undefined;
  checkPublicKey(publicKey: Uint8Array): boolean;
}

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** `node:crypto` throws for longer data; a limit on both paths keeps their verdicts the same. */
const MESSAGE_BYTES_MAX = 2 ** 31 - 1;
const KEYS_REMEMBERED = 1024;

/** The order of the group that the base point generates, little-endian as S is on the wire. */
const ORDER = fromHex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");

/**
 * Every y, little-endian and without the sign bit, that decodes to a point of order 1, 2, 4 or 8. The
 * last two are 0 and 1 again, written as p and p + 1. With either sign these are 14 encodings.
 */
const SMALL_ORDER_Y = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].map(fromHex);

/**
 * Decides about keys and signatures, given a way to check the equation for one key. Everything on
 * which implementations of Ed25519 disagree is decided here, before the equation is checked: the
 * caller's equation only ever sees enrolled keys, S < L and an R that is not of small order.
 */
export function verification(
  equationFor: (publicKey: Uint8Array, point: Point) => Verifier,
): Verification {
  const enrolled = new Map<string, Verifier | undefined>();

  function judge(publicKey: Uint8Array): Verifier | undefined {
    const point = enrolledPoint(publicKey);
    if (point === undefined) return undefined;
    const holds = equationFor(publicKey, point);
    return (message, signature) =>
      isMessage(message) && isSignature(signature) && holds(message, signature);
  }

  function verifier(publicKey: Uint8Array): Verifier | undefined {
    if (!isBytes(publicKey) || publicKey.length !== KEY_BYTES) return undefined;
    // A copy, because the verdict is cached and the caller may write to its array.
    const key = new Uint8Array(publicKey);
    const name = String.fromCharCode(...key);
    const known = enrolled.has(name);
    const verdict = known ? enrolled.get(name) : judge(key);
    // Moved to the end on every use: a flood of new keys must not evict those in use.
    if (known) enrolled.delete(name);
    else if (enrolled.size >= KEYS_REMEMBERED)
      enrolled.delete(enrolled.keys().next().value as string);
    enrolled.set(name, verdict);
    return verdict;
  }

  return {
    verifier,
    checkPublicKey: (publicKey) => verifier(publicKey) !== undefined,
    verify: (signature, message, publicKey) =>
      isMessage(message) &&
      isSignature(signature) &&
      (verifier(publicKey)?.(message, signature) ?? false),
  };
}

/**
 * The point of a key that may be enrolled: canonical, on the curve, torsion-free, not of small order.
 * With any other key, signatures exist that some verifiers accept and others refuse, and with one of
 * small order anybody can sign.
 */
function enrolledPoint(publicKey: Uint8Array): Point | undefined {
  try {
    const point = Point.fromBytes(publicKey, false);
    return !point.isSmallOrder() && point.isTorsionFree() ? point : undefined;
  } catch {
    return undefined;
  }
}

function isSignature(value: unknown): value is Uint8Array {
  return (
    isBytes(value) &&
    value.length === SIGNATURE_BYTES &&
    isBelowOrder(value) &&
    !hasSmallOrderR(value)
  );
}

function isMessage(value: unknown): value is Uint8Array {
  return isBytes(value) && value.length <= MESSAGE_BYTES_MAX;
}

function isBelowOrder(signature: Uint8Array): boolean {
  for (let i = KEY_BYTES - 1; i >= 0; i--) {
    const difference = signature[KEY_BYTES + i]! - ORDER[i]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function hasSmallOrderR(signature: Uint8Array): boolean {
  return SMALL_ORDER_Y.some((y) =>
    y.every((byte, i) => byte === (i === KEY_BYTES - 1 ? signature[i]! & 0x7f : signature[i])),
  );
}

/** The seed of a key; throws for another length, which would make an unusable key. */
export function assertPrivateKey(value: unknown): asserts value is Uint8Array {
  if (isBytes(value) && value.length === KEY_BYTES) return;
  const found = isBytes(value) ? `${value.length} bytes` : typeof value;
  throw new WaybillError(
    400,
    `A private key must be a seed of 32 bytes in a Uint8Array, but this is ${found}.`,
  );
}

export function assertMessage(value: unknown): asserts value is Uint8Array {
  if (isMessage(value)) return;
  const found = isBytes(value) ? `${value.length} bytes` : typeof value;
  throw new WaybillError(
    400,
    `The data to sign must be a Uint8Array of less than 2 GiB, but this is ${found}.`,
  );
}

const typeOfArray = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!.get!;

/**
 * `instanceof` fails twice: false for an array of another realm, true for
 * `Object.create(Uint8Array.prototype)`.
 */
function isBytes(value: unknown): value is Uint8Array {
  return typeOfArray.call(value) === "Uint8Array";
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
}

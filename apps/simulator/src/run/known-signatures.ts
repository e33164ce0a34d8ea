/// <reference types="node" />
import { Buffer } from "node:buffer";
import crypto from "node:crypto";
import type { KeyObject } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/** Enough for several worlds; forgotten signatures are checked again. */
const KEPT = 20_000;

/** The signed bytes, by key and signature. */
const known = new Map<string, Uint8Array>();
const names = new WeakMap<KeyObject, string>();

const sign = crypto.sign;
const verify = crypto.verify;

/**
 * Checks the signature of the same bytes only once. A world is one process that often reads what it
 * has signed itself; bytes that differ in a single bit are checked as usual.
 */
export function rememberSignatures(): void {
  const signKnown = (algorithm: null, message: Uint8Array, key: KeyObject) => {
    const signature = sign(algorithm, message, key);
    remember(`${nameOf(key)}${latin1(signature)}`, message);
    return signature;
  };
  const verifyKnown = (
    algorithm: null,
    message: Uint8Array,
    key: KeyObject,
    signature: Uint8Array,
  ) => {
    const name = `${nameOf(key)}${latin1(signature)}`;
    const signed = known.get(name);
    if (signed !== undefined && Buffer.compare(signed, message) === 0) return true;
    const holds = verify(algorithm, message, key, signature);
    if (holds) remember(name, message);
    return holds;
  };
  Object.assign(crypto, { sign: signKnown, verify: verifyKnown });
  syncBuiltinESMExports();
}

function remember(name: string, message: Uint8Array): void {
  if (known.size >= KEPT) known.delete(known.keys().next().value!);
  known.set(name, message.slice());
}

/** A key pair is identified by its public half. */
function nameOf(key: KeyObject): string {
  let name = names.get(key);
  if (name === undefined) {
    const half = key.type === "private" ? crypto.createPublicKey(key) : key;
    name = half.export({ format: "der", type: "spki" }).toString("latin1");
    names.set(key, name);
  }
  return name;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

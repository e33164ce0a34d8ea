/// <reference types="node" />
import { Buffer } from "node:buffer";
import * as crypto from "node:crypto";
import type { Ed25519 } from "./sodium.node.ts";

// What an Ed25519 key is wrapped in for `node:crypto`: everything before the 32 bytes (RFC 8410).
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** `node:crypto`, which is always there. */
export const nodeCrypto: Ed25519 = {
  signer(seed) {
    const key = importPrivate(seed);
    return (message) => {
      const { buffer, byteOffset, byteLength } = crypto.sign(null, message, key);
      return new Uint8Array(buffer, byteOffset, byteLength);
    };
  },
  equation(publicKey) {
    const der = Buffer.concat([SPKI, publicKey]);
    const key = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
    return (message, signature) => crypto.verify(null, message, key, signature);
  },
};

/** The public key that belongs to a seed. */
export function publicKeyWith(seed: Uint8Array): Uint8Array {
  const spki = crypto.createPublicKey(importPrivate(seed)).export({ format: "der", type: "spki" });
  return new Uint8Array(spki.subarray(SPKI.length));
}

function importPrivate(seed: Uint8Array): crypto.KeyObject {
  const key = Buffer.concat([PKCS8, seed]);
  return crypto.createPrivateKey({ key, format: "der", type: "pkcs8" });
}

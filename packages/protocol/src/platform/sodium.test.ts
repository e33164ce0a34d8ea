/// <reference types="node" />
import * as crypto from "node:crypto";
import { expect, test } from "vitest";
import { ONE_KEY } from "./known-answers.ts";
import { nodeCrypto } from "./crypto.node.ts";
import { isSodium, loadSodium, sodiumPlatform } from "./sodium-fixture.ts";
import { preferSodium } from "./sodium.node.ts";
import type { Sodium } from "./sodium.node.ts";

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

test("sodium-native is used where it is installed", () => {
  expect(isSodium).toBe(true);
});

test("where it is not installed, or can't be loaded, node:crypto is used, and nothing is printed", () => {
  const absent = preferSodium(nodeCrypto);
  expect(absent).toBe(nodeCrypto);
  const broken = (): never => {
    throw new Error("No prebuild for this platform");
  };
  for (const load of [broken, () => undefined, () => ({}), () => null]) {
    expect(preferSodium(nodeCrypto, load)).toBe(nodeCrypto);
  }
});

type Verify = Sodium["crypto_sign_verify_detached"];

/** The package, with one wrong answer. */
function faulty(over: (sodium: Sodium) => Partial<Sodium>): Sodium {
  const sodium = loadSodium();
  return {
    crypto_sign_seed_keypair: (...given) => sodium.crypto_sign_seed_keypair(...given),
    crypto_sign_detached: (...given) => sodium.crypto_sign_detached(...given),
    crypto_sign_verify_detached: (...given) => sodium.crypto_sign_verify_detached(...given),
    ...over(sodium),
  };
}

const isR = (signature: Uint8Array, at: string): boolean =>
  Buffer.from(signature).toString("hex").startsWith(at.slice(0, 64));

const FAULTS: Readonly<Record<string, (sodium: Sodium) => Partial<Sodium>>> = {
  "accepts everything": () => ({ crypto_sign_verify_detached: () => true }),
  "refuses everything": () => ({ crypto_sign_verify_detached: () => false }),
  "has verdicts that are no booleans": (sodium) => ({
    crypto_sign_verify_detached: (...given) => Number(sodium.crypto_sign_verify_detached(...given)),
  }),
  "throws for an invalid signature": (sodium) => ({
    crypto_sign_verify_detached(...given) {
      if (sodium.crypto_sign_verify_detached(...given) === true) return true;
      throw new Error("invalid");
    },
  }),
  "ignores the end of a long message": (sodium) => ({
    crypto_sign_detached: (signature, message, key) =>
      sodium.crypto_sign_detached(signature, message.subarray(0, 4_096), key),
  }),
  "signs with a random nonce": () => ({
    crypto_sign_detached: (signature) => void crypto.randomFillSync(signature),
  }),
  ...Object.fromEntries(
    ONE_KEY.invalid.map((signature, index) => [
      `accepts the hostile R of case ${index + 1}`,
      (sodium: Sodium) => ({
        crypto_sign_verify_detached: (...given: Parameters<Verify>) =>
          isR(given[0], signature) || sodium.crypto_sign_verify_detached(...given),
      }),
    ]),
  ),
};

test.each(Object.keys(FAULTS))("one that %s is not used", (name) => {
  expect(preferSodium(nodeCrypto, () => faulty(FAULTS[name]!))).toBe(nodeCrypto);
});

test("one without a fault is used, so that each fault alone is the reason", () => {
  expect(preferSodium(nodeCrypto, () => faulty(() => ({})))).not.toBe(nodeCrypto);
});

test("the hostile R of each known answer satisfies the equation times the cofactor alone", () => {
  const key = hex(ONE_KEY.publicKey);
  const message = hex(ONE_KEY.message);
  expect(sodiumPlatform.verify(hex(ONE_KEY.valid), message, key)).toBe(true);
  for (const signature of ONE_KEY.invalid) {
    expect(sodiumPlatform.verify(hex(signature), message, key)).toBe(false);
    expect(nodeCrypto.equation(key)(message, hex(signature))).toBe(false);
  }
});

test("bytes in shared memory are signed and verified like any others", () => {
  const seed = crypto.randomBytes(32);
  const shared = new Uint8Array(new SharedArrayBuffer(100)).fill(7);
  const signature = sodiumPlatform.sign(shared, seed);
  expect(signature).toEqual(nodeCrypto.signer(seed)(shared.slice()));
  expect(sodiumPlatform.verify(signature, shared, sodiumPlatform.publicKeyOf(seed))).toBe(true);
});

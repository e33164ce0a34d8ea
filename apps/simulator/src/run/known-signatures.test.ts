/// <reference types="node" />
import crypto from "node:crypto";
import { expect, test } from "vitest";
import { rememberSignatures } from "./known-signatures.ts";

test("only what was signed or checked here is known", () => {
  const { privateKey, publicKey } = crypto.generateKeyPairSync("ed25519");
  const other = crypto.generateKeyPairSync("ed25519");
  const message = new TextEncoder().encode("one");
  const foreign = crypto.sign(null, message, privateKey);
  rememberSignatures();
  const holds = (text: string, key = publicKey, signature: Uint8Array = foreign) =>
    crypto.verify(null, new TextEncoder().encode(text), key, signature);
  expect(holds("one")).toBe(true);
  expect(holds("one")).toBe(true);
  expect(holds("two")).toBe(false);
  expect(holds("one", other.publicKey)).toBe(false);
  const own = crypto.sign(null, message, other.privateKey);
  expect(holds("one", other.publicKey, own)).toBe(true);
  expect(holds("one", publicKey, own)).toBe(false);
  const changed = Uint8Array.from(own, (byte, index) => byte ^ (index === 40 ? 1 : 0));
  expect(holds("one", other.publicKey, changed)).toBe(false);
});

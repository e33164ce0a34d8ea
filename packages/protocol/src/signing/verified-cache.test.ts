import { expect, test } from "vitest";
import { textToBase64url } from "#platform";
import { generateKey, publicKeyFrom } from "./key.ts";
import type { PublicKey } from "./key.ts";
import { signCompact, signCompactBatch, verifyCompact } from "./jws.ts";

function reader() {
  const key = generateKey();
  const enrolled = publicKeyFrom(key.publicKey);
  const checks: Uint8Array[] = [];
  const counting: PublicKey = {
    ...enrolled,
    verify: (message, signature) => {
      checks.push(message);
      return enrolled.verify(message, signature);
    },
  };
  return { key, counting, checks };
}

test("an envelope that was verified in this process is found in the cache, with the same result", () => {
  const { key, counting, checks } = reader();
  for (const text of [signCompact("{}", key), ...signCompactBatch(["1", "2", "3"], key)]) {
    const first = verifyCompact(text, () => counting, { mayRecall: true });
    const before = checks.length;
    expect(verifyCompact(`${text}`, () => counting, { mayRecall: true })).toEqual(first);
    expect(checks).toHaveLength(before);
    expect(verifyCompact(text, () => counting)).toEqual(first);
  }
});

test("the cache is used only if the reader asks for it", () => {
  const { key, counting, checks } = reader();
  const text = signCompact("{}", key);
  verifyCompact(text, () => counting);
  verifyCompact(text, () => counting, { mayRecall: true });
  verifyCompact(text, () => counting);
  expect(checks).toHaveLength(3);
});

test("a reader that does not know the key, or another one under its id, refuses all the same", () => {
  const { key, counting } = reader();
  const text = signCompact("{}", key);
  verifyCompact(text, () => counting, { mayRecall: true });
  const options = { mayRecall: true } as const;
  expect(() => verifyCompact(text, () => undefined, options)).toThrow("no key with the kid");
  const other = publicKeyFrom(generateKey().publicKey);
  expect(() => verifyCompact(text, () => other, options)).toThrow("is really");
  const impostor = { ...other, kid: counting.kid };
  expect(() => verifyCompact(text, () => impostor, options)).toThrow("does not fit");
});

test("a text that differs by one character is not found", () => {
  const { key, counting } = reader();
  const text = signCompact('{"a":1}', key);
  verifyCompact(text, () => counting, { mayRecall: true });
  const [header, , signature] = text.split(".");
  const forged = `${header}.${textToBase64url('{"a":2}')}.${signature}`;
  for (let times = 0; times < 2; times++) {
    expect(() => verifyCompact(forged, () => counting, { mayRecall: true })).toThrow(
      "does not fit",
    );
  }
});

test("a reader with a lower limit refuses what another one has accepted", () => {
  const { key, counting } = reader();
  const text = signCompact("{}", key);
  verifyCompact(text, () => counting, { mayRecall: true });
  const limits = { envelopeBytes: text.length - 1 };
  expect(() => verifyCompact(text, () => counting, { mayRecall: true, limits })).toThrow(
    "limit is",
  );
});

test("the cache is bounded: a flood evicts older entries", () => {
  const { key, counting, checks } = reader();
  const text = signCompact("{}", key);
  verifyCompact(text, () => counting, { mayRecall: true });
  for (let index = 0; index < 8; index++) {
    const large = signCompact(JSON.stringify([index, "x".repeat(100_000)]), key);
    verifyCompact(large, () => counting, { mayRecall: true });
  }
  const before = checks.length;
  verifyCompact(text, () => counting, { mayRecall: true });
  expect(checks).toHaveLength(before + 1);
});

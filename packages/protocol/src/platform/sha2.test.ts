/// <reference types="node" />
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sha256, sha512 } from "./sha2.ts";

const HASHES = { sha256, sha512 };

// FIPS 180-4, the examples for one block, two blocks, nothing, and a million letters a.
const TWO_BLOCKS_256 = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
const TWO_BLOCKS_512 =
  "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
const KNOWN: [keyof typeof HASHES, string, string][] = [
  ["sha256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ["sha256", TWO_BLOCKS_256, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"],
  [
    "sha256",
    "a".repeat(1_000_000),
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
  ],
  [
    "sha512",
    "",
    "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
  ],
  [
    "sha512",
    "abc",
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
  ],
  [
    "sha512",
    TWO_BLOCKS_512,
    "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
  ],
  [
    "sha512",
    "a".repeat(1_000_000),
    "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973ebde0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
  ],
];

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

describe.each(["sha256", "sha512"] as const)("%s", (name) => {
  const hash = HASHES[name];

  function expectSameAsNode(message: Uint8Array): void {
    expect(hex(hash(message)), `of ${hex(message.subarray(0, 64))}`).toBe(
      createHash(name).update(message).digest("hex"),
    );
  }

  test("gives the digests of the standard", () => {
    for (const [of, text, digest] of KNOWN) {
      if (of === name) expect(hex(hash(new TextEncoder().encode(text)))).toBe(digest);
    }
  });

  test("agrees with node:crypto at every length around the edges of a block", () => {
    for (let length = 0; length <= 300; length++) expectSameAsNode(randomBytes(length));
  });

  test("agrees with node:crypto on long messages and on a window of a larger array", () => {
    for (const length of [4095, 4096, 65_537, 1_048_583]) expectSameAsNode(randomBytes(length));
    const larger = new Uint8Array(randomBytes(1000));
    for (let start = 0; start < 40; start++) {
      expectSameAsNode(larger.subarray(start, 1000 - 3 * start));
    }
  });

  test("leaves its argument as it was and starts afresh each time", () => {
    const message = new Uint8Array(200).fill(7);
    const first = hex(hash(message));
    expect(hex(hash(message))).toBe(first);
    expect(message).toEqual(new Uint8Array(200).fill(7));
  });
});

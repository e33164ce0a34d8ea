/// <reference types="node" />
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sha256, utf8 } from "#platform";
import { leafOf } from "./batch-tree.ts";
import { batchRoots, faultOfBatchPart, signBatch } from "./batch.ts";
import { privateKeyFrom, publicKeyFrom } from "./key.ts";
import type { PublicKey } from "./key.ts";

/** Allows for many cases on a busy machine. */
const PATIENT = { timeout: 60_000 };

const key = privateKeyFrom(new Uint8Array(32).fill(1));
const publicKey = publicKeyFrom(key.jwk);
const stranger = publicKeyFrom(privateKeyFrom(new Uint8Array(32).fill(2)).jwk);

const inputs = (size: number) => Array.from({ length: size }, (_, index) => `payload-${index}`);

const partsOf = (payloads: readonly string[]) =>
  signBatch(
    payloads.map((payload) => leafOf(key.kid, payload)),
    key,
  );

function concat(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function naiveLeaf(payload: string): Uint8Array {
  return sha256(concat(Uint8Array.of(0), utf8(key.kid), utf8("\n"), utf8(payload)));
}

/** The tree and the paths of RFC 9162, sections 2.1.1 and 2.1.3.1, verbatim. */
function naiveRoot(leaves: readonly string[]): Uint8Array {
  if (leaves.length === 1) return naiveLeaf(leaves[0]!);
  const k = split(leaves.length);
  return sha256(
    concat(Uint8Array.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k))),
  );
}

function naivePath(index: number, leaves: readonly string[]): Uint8Array[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k
    ? [...naivePath(index, left), naiveRoot(right)]
    : [...naivePath(index - k, right), naiveRoot(left)];
}

function split(size: number): number {
  let k = 1;
  while (k * 2 < size) k *= 2;
  return k;
}

function isAccepted(
  input: string,
  part: Uint8Array,
  by: PublicKey = publicKey,
  roots = batchRoots(),
): boolean {
  return faultOfBatchPart(part) === undefined && roots.hasLeaf(leafOf(key.kid, input), part, by);
}

/** A key that counts how often it is asked. */
function counting(by: PublicKey): PublicKey & { asked: number } {
  const counter = {
    ...by,
    asked: 0,
    verify(message: Uint8Array, signature: Uint8Array) {
      counter.asked++;
      return by.verify(message, signature);
    },
  };
  return counter;
}

const sizes = [...Array.from({ length: 70 }, (_, i) => i + 1), 127, 128, 129, 255, 1000];

describe("a batch", () => {
  test("of every size is what RFC 9162 describes, for every leaf", PATIENT, () => {
    for (const size of sizes) {
      const leaves = inputs(size);
      const parts = partsOf(leaves);
      const root = naiveRoot(leaves);
      const signature = parts[0]!.slice(8, 72);
      expect(
        publicKey.verify(concat(utf8("waybill batch 1\0"), uint32(size), root), signature),
      ).toBe(true);
      const some = size <= 70 ? leaves.keys() : [0, 1, size >> 1, size - 2, size - 1];
      for (const index of some) {
        const expected = concat(
          uint32(index),
          uint32(size),
          signature,
          ...naivePath(index, leaves),
        );
        expect(Buffer.compare(parts[index]!, expected)).toBe(0);
      }
    }
  });

  test(
    "of every size is accepted, for every leaf, at the cost of one signature check",
    PATIENT,
    () => {
      for (const size of sizes) {
        const by = counting(publicKey);
        const roots = batchRoots();
        const parts = partsOf(inputs(size));
        inputs(size).forEach((input, index) =>
          expect(isAccepted(input, parts[index]!, by, roots)).toBe(true),
        );
        expect(by.asked).toBe(1);
      }
      expect(partsOf([])).toEqual([]);
    },
  );

  test("is refused with another index or size, whatever root is cached", PATIENT, () => {
    const roots = batchRoots();
    const passed: string[] = [];
    for (let size = 1; size <= 12; size++) {
      const parts = partsOf(inputs(size));
      inputs(size).forEach((input, index) => {
        for (let otherSize = 0; otherSize <= 20; otherSize++) {
          for (let otherIndex = 0; otherIndex <= 20; otherIndex++) {
            const part = concat(uint32(otherIndex), uint32(otherSize), parts[index]!.slice(8));
            if (!isAccepted(input, part, publicKey, roots)) continue;
            passed.push(`leaf ${index} of ${size} as leaf ${otherIndex} of ${otherSize}`);
          }
        }
      });
    }
    const asThemselves = Array.from({ length: 12 }, (_, i) => i + 1).flatMap((size) =>
      inputs(size).map((_, index) => `leaf ${index} of ${size} as leaf ${index} of ${size}`),
    );
    expect(passed).toEqual(asThemselves);
  });

  test("binds its size: leaf 0 of three is not leaf 0 of four, although their paths are equal", () => {
    const [part] = partsOf(inputs(3));
    const swapped = concat(uint32(0), uint32(4), part!.slice(8));
    expect(faultOfBatchPart(swapped)).toBeUndefined();
    expect(isAccepted("payload-0", part!)).toBe(true);
    expect(isAccepted("payload-0", swapped)).toBe(false);
  });

  test(
    "is refused with any byte of a part changed, and with any other input or key",
    PATIENT,
    () => {
      const roots = batchRoots();
      for (const [size, index] of [
        [1, 0],
        [2, 1],
        [3, 2],
        [5, 4],
        [7, 3],
        [64, 37],
        [70, 69],
      ] as const) {
        const leaves = inputs(size);
        const part = partsOf(leaves)[index]!;
        const input = leaves[index]!;
        expect(isAccepted(input, part, publicKey, roots)).toBe(true);
        for (let at = 0; at < part.length; at++) {
          for (const flip of [1, 0x80, 0xff]) {
            const changed = part.slice();
            changed[at]! ^= flip;
            expect(isAccepted(input, changed, publicKey, roots)).toBe(false);
          }
        }
        for (let at = 0; at < input.length; at++) {
          const changed = input.slice(0, at) + "~" + input.slice(at + 1);
          expect(isAccepted(changed, part, publicKey, roots)).toBe(false);
        }
        for (const other of leaves.filter((leaf) => leaf !== input)) {
          expect(isAccepted(other, part, publicKey, roots)).toBe(false);
        }
        expect(isAccepted(input, part, stranger, roots)).toBe(false);
      }
    },
  );

  test("requires a path of exactly the length that index and size imply", () => {
    for (const size of [1, 2, 3, 4, 6, 7, 33]) {
      partsOf(inputs(size)).forEach((part, index) => {
        expect(faultOfBatchPart(part)).toBeUndefined();
        for (const other of [
          concat(part, new Uint8Array(32)),
          concat(part, part.slice(-32)),
          concat(part, new Uint8Array(1)),
          part.slice(0, -1),
          part.slice(0, -32),
          part.slice(0, 72 - 1),
          new Uint8Array(0),
        ]) {
          expect(faultOfBatchPart(other)).toBeTypeOf("string");
          expect(index).toBeLessThan(size);
        }
      });
    }
  });

  test("has paths of up to 32 nodes, for trees of up to 2^32 - 1 leaves", () => {
    const nodesOf = (index: number, size: number) => {
      for (let nodes = 0; nodes <= 33; nodes++) {
        const part = concat(uint32(index), uint32(size), new Uint8Array(64 + 32 * nodes));
        if (faultOfBatchPart(part) === undefined) return nodes;
      }
      return undefined;
    };
    expect(nodesOf(0, 2 ** 32 - 1)).toBe(32);
    expect(nodesOf(2 ** 31, 2 ** 32 - 1)).toBe(32);
    expect(nodesOf(2 ** 32 - 2, 2 ** 32 - 1)).toBe(31);
    expect(nodesOf(2 ** 31, 2 ** 31 + 1)).toBe(1);
    expect(nodesOf(0, 2 ** 31)).toBe(31);
    expect(nodesOf(0, 1)).toBe(0);
    expect(nodesOf(2 ** 32 - 1, 2 ** 32 - 1)).toBeUndefined();
    expect(nodesOf(0, 0)).toBeUndefined();
  });

  test("of a tree too large to build is verified: a leaf beyond 2^31", () => {
    // Leaf 2^31 of 2^31 + 1 stands alone beside a perfect tree, for whose root any 32 bytes will do.
    const [size, index] = [2 ** 31 + 1, 2 ** 31];
    const input = "payload";
    const left = sha256(utf8("the root of the first 2^31"));
    const leaf = naiveLeaf(input);
    const root = sha256(concat(Uint8Array.of(1), left, leaf));
    const signature = key.sign(concat(utf8("waybill batch 1\0"), uint32(size), root));
    expect(isAccepted(input, concat(uint32(index), uint32(size), signature, left))).toBe(true);
    expect(isAccepted(input, concat(uint32(index - 1), uint32(size), signature, left))).toBe(false);
  });

  test(
    "of random size and inputs: accepted as it is, refused with random bytes changed",
    PATIENT,
    () => {
      const roots = batchRoots();
      fc.assert(
        fc.property(
          fc.uniqueArray(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 300 }),
          fc.nat(),
          fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
            minLength: 1,
            maxLength: 4,
          }),
          (leaves, pick, edits) => {
            const index = pick % leaves.length;
            const part = partsOf(leaves)[index]!;
            expect(isAccepted(leaves[index]!, part, publicKey, roots)).toBe(true);
            const changed = part.slice();
            for (const [at, flip] of edits) changed[at % part.length]! ^= flip;
            const isSame = Buffer.compare(part, changed) === 0;
            expect(isAccepted(leaves[index]!, changed, publicKey, roots)).toBe(isSame);
          },
        ),
        { numRuns: 200 },
      );
    },
  );

  test("does not pass for a lone signature, nor a node for a leaf", () => {
    const leaves = inputs(2);
    const [part] = partsOf(leaves);
    expect(publicKey.verify(utf8(leaves[0]!), part!.slice(8, 72))).toBe(false);
    const lone = concat(uint32(0), uint32(1), key.sign(naiveLeaf(leaves[0]!)));
    expect(isAccepted(leaves[0]!, lone)).toBe(false);
  });
});

describe("batchRoots", () => {
  const [one] = partsOf(inputs(1));
  const forged = one!.slice();
  forged[8]! ^= 1;

  test("caches no signature that was not verified", () => {
    const roots = batchRoots();
    const by = counting(publicKey);
    expect(isAccepted(inputs(1)[0]!, forged, by, roots)).toBe(false);
    expect(isAccepted(inputs(1)[0]!, forged, by, roots)).toBe(false);
    expect(by.asked).toBe(2);
    expect(isAccepted(inputs(1)[0]!, one!, by, roots)).toBe(true);
    expect(isAccepted(inputs(1)[0]!, one!, by, roots)).toBe(true);
    expect(by.asked).toBe(3);
    expect(isAccepted(inputs(1)[0]!, forged, by, roots)).toBe(false);
    expect(by.asked).toBe(4);
  });

  test("keeps keys apart", () => {
    const roots = batchRoots();
    expect(isAccepted(inputs(1)[0]!, one!, publicKey, roots)).toBe(true);
    expect(isAccepted(inputs(1)[0]!, one!, stranger, roots)).toBe(false);
  });

  test("holds no more than its capacity, and drops the oldest first", () => {
    const roots = batchRoots(2);
    const by = counting(publicKey);
    const batches = ["a", "b", "c"].map((input) => ({ input, part: partsOf([input])[0]! }));
    const ask = (which: number) => {
      const before = by.asked;
      expect(isAccepted(batches[which]!.input, batches[which]!.part, by, roots)).toBe(true);
      return by.asked - before;
    };
    expect([ask(0), ask(1), ask(0), ask(1)]).toEqual([1, 1, 0, 0]);
    expect([ask(2), ask(1), ask(2), ask(0)]).toEqual([1, 0, 0, 1]);
  });

  test("of capacity 0 caches nothing", () => {
    const by = counting(publicKey);
    const roots = batchRoots(0);
    for (let i = 0; i < 3; i++) expect(isAccepted(inputs(1)[0]!, one!, by, roots)).toBe(true);
    expect(by.asked).toBe(3);
  });
});

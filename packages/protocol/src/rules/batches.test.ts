/// <reference types="node" />
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { signCompactBatch } from "../hub.ts";
import {
  batchRoots,
  digestOfJws,
  publicKeyFrom,
  readCompact,
  signCompact,
  verifyCompact,
} from "../index.ts";
import type { BatchRoots, PrivateKey } from "../index.ts";
import { base64url, editor, headerOf, researcher, statusOf } from "./rules-fixture.ts";

// The tree is built here a second time, exactly as the specification and RFC 9162 describe it.

function hash(...parts: (string | Uint8Array)[]): Buffer {
  return createHash("sha256")
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest();
}

/** Written as the rule has it: of the kid in the header, and of the payload's bytes. */
function leafOf(input: string): Buffer {
  const [header, payload] = input.split(".").map((part) => Buffer.from(part, "base64url"));
  const { kid } = JSON.parse(header!.toString()) as { kid: string };
  return hash("\x00", kid, "\n", payload!);
}

function rootOf(inputs: readonly string[]): Buffer {
  if (inputs.length === 1) return leafOf(inputs[0]!);
  const [left, right] = splitTree(inputs);
  return hash("\x01", rootOf(left), rootOf(right));
}

function pathOf(index: number, inputs: readonly string[]): Buffer[] {
  if (inputs.length === 1) return [];
  const [left, right] = splitTree(inputs);
  return index < left.length
    ? [...pathOf(index, left), rootOf(right)]
    : [...pathOf(index - left.length, right), rootOf(left)];
}

function splitTree(inputs: readonly string[]): [readonly string[], readonly string[]] {
  let size = 1;
  while (size * 2 < inputs.length) size *= 2;
  return [inputs.slice(0, size), inputs.slice(size)];
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function inputOf(payload: string, key: PrivateKey = editor): string {
  return `${base64url(headerOf(key, "Ed25519-batch"))}.${base64url(payload)}`;
}

function signRoot(inputs: readonly string[], size = inputs.length, key = editor): Uint8Array {
  return key.sign(Buffer.concat([Buffer.from("waybill batch 1\0"), uint32(size), rootOf(inputs)]));
}

interface Part {
  index: number;
  size: number;
  signature: Uint8Array;
  path: readonly Uint8Array[];
}

function partOf(index: number, inputs: readonly string[]): Part {
  const path = pathOf(index, inputs);
  return { index, size: inputs.length, signature: signRoot(inputs), path };
}

function compact(input: string, { index, size, signature, path }: Part): string {
  const part = Buffer.concat([uint32(index), uint32(size), signature, ...path]);
  return `${input}.${base64url(part)}`;
}

const KEYS = new Map([editor, researcher].map(({ kid, jwk }) => [kid, publicKeyFrom(jwk)]));

/** The verdict of a reader with an empty or the given cache. */
function statusWith(text: string, roots: BatchRoots = batchRoots(0)) {
  return statusOf(() => verifyCompact(text, (kid) => KEYS.get(kid), { roots }));
}

const INPUTS = ["a", "b", "c", "d", "e", "f", "g"].map((payload) => inputOf(payload));
const SIZES = INPUTS.map((_, index) => INPUTS.slice(0, index + 1));

test("WB-22 the signature part is index, size, signature of prefix, size and root, then the path", () => {
  for (const inputs of SIZES) {
    inputs.forEach((input, index) => {
      expect(statusWith(compact(input, partOf(index, inputs)))).toBe("taken");
    });
    const payloads = inputs.map((input) => readCompact(compact(input, partOf(0, [input]))).payload);
    const made = signCompactBatch(payloads, editor);
    expect(made).toEqual(inputs.map((input, index) => compact(input, partOf(index, inputs))));
  }
});

test("WB-22 a size of 0 and an index that is not less than the size are refused with 400", () => {
  const [input] = INPUTS as [string];
  const lone = partOf(0, [input]);
  for (const [index, size] of [
    [0, 0],
    [1, 0],
    [1, 1],
    [2 ** 32 - 1, 1],
    [2 ** 32 - 1, 2 ** 32 - 1],
  ] as const) {
    expect(statusWith(compact(input, { ...lone, index, size })), `${index} of ${size}`).toBe(400);
  }
  const third = partOf(2, INPUTS.slice(0, 3));
  expect(statusWith(compact(INPUTS[2]!, { ...third, index: 3 }))).toBe(400);
});

test("WB-22 the size is signed: the first of three does not pass for the first of four", () => {
  const inputs = INPUTS.slice(0, 3);
  const first = partOf(0, inputs);
  expect(statusWith(compact(inputs[0]!, first))).toBe("taken");
  expect(statusWith(compact(inputs[0]!, { ...first, size: 4 }))).toBe(401);
  const other = { ...first, size: 4, signature: signRoot(inputs, 4) };
  expect(statusWith(compact(inputs[0]!, { ...other, size: 3 }))).toBe(401);
});

test("WB-22 a part with other bytes than the specification says is refused with 401", () => {
  const inputs = INPUTS.slice(0, 5);
  const sound = partOf(1, inputs);
  const withoutPrefix = editor.sign(Buffer.concat([uint32(5), rootOf(inputs)]));
  const rootAlone = editor.sign(rootOf(inputs));
  const [first, ...rest] = sound.path as [Uint8Array, ...Uint8Array[]];
  const wrong: Partial<Part>[] = [
    { index: 0 },
    { signature: withoutPrefix },
    { signature: rootAlone },
    { signature: editor.sign(Buffer.from(inputs[1]!)) },
    { path: [new Uint8Array(first).fill(0), ...rest] },
    { path: sound.path.toReversed() },
  ];
  for (const part of wrong)
    expect(statusWith(compact(inputs[1]!, { ...sound, ...part }))).toBe(401);
  // A node is no leaf: without the 0 and the 1 in front one could pass for the other.
  expect(statusWith(compact(inputs[2]!, sound))).toBe(401);
});

const PAYLOAD = '{"a":1}';

/** A reader that has verified the payload, signed alone or with others, and may use what it remembers. */
function statusAfter(verified: string, copy: string) {
  const options = { roots: batchRoots(), mayRecall: true };
  verifyCompact(verified, (kid) => KEYS.get(kid), options);
  expect(digestOfJws(copy)).toBe(digestOfJws(verified));
  return statusOf(() => verifyCompact(copy, (kid) => KEYS.get(kid), options));
}

test("WB-103 a verified digest does not vouch for another signature", () => {
  const alone = signCompact(PAYLOAD, editor);
  const [inBatch] = signCompactBatch([PAYLOAD, "{}"], editor) as [string];
  const bad = (text: string) => {
    const [header, payload, signature] = text.split(".");
    const bytes = Buffer.from(signature!, "base64url");
    bytes[40]! ^= 1;
    return `${header}.${payload}.${base64url(bytes)}`;
  };
  const [header, payload] = alone.split(".");
  const byAnother = `${header}.${payload}.${signCompact(PAYLOAD, researcher).split(".")[2]!}`;
  for (const verified of [alone, inBatch]) {
    for (const good of [alone, inBatch]) expect(statusAfter(verified, good)).toBe("taken");
    for (const copy of [bad(alone), bad(inBatch), byAnother]) {
      expect(statusAfter(verified, copy)).toBe(401);
    }
  }
});

test("WB-103 a verified text vouches only for itself, and only under its key", () => {
  const options = { mayRecall: true };
  const text = signCompact(PAYLOAD, editor);
  verifyCompact(text, (kid) => KEYS.get(kid), options);
  const other = text.replace(base64url(PAYLOAD), base64url('{"a":2}'));
  expect(statusOf(() => verifyCompact(other, (kid) => KEYS.get(kid), options))).toBe(401);
  const impostor = { ...KEYS.get(researcher.kid)!, kid: editor.kid };
  expect(statusOf(() => verifyCompact(text, () => impostor, options))).toBe(401);
});

test("WB-23 a path that is longer or shorter than index and size imply is refused with 400", () => {
  for (const inputs of SIZES) {
    inputs.forEach((input, index) => {
      const sound = partOf(index, inputs);
      const { path } = sound;
      const longer = [...path, Buffer.alloc(32)];
      const wrong = [longer, [...longer, Buffer.alloc(32)], [...path, Buffer.alloc(1)]];
      if (path.length > 0) wrong.push(path.slice(1), [path[0]!.subarray(1)]);
      for (const other of wrong) {
        const text = compact(input, { ...sound, path: other });
        expect(statusWith(text), `${index} of ${inputs.length}`).toBe(400);
      }
    });
  }
  for (const length of [0, 4, 8, 64, 71]) {
    const text = `${INPUTS[0]!}.${base64url(Buffer.alloc(length))}`;
    expect(statusWith(text), `${length} bytes`).toBe(400);
  }
});

describe("a cached root", () => {
  const inputs = [...INPUTS.slice(0, 2), inputOf("mine", researcher)];
  const first = partOf(0, inputs);

  function rootsAfter(part: Part): BatchRoots {
    const roots = batchRoots();
    expect(statusWith(compact(inputs[0]!, part), roots)).toBe("taken");
    return roots;
  }

  test("WB-25 verifies the others of its batch", () => {
    const roots = rootsAfter(first);
    expect(statusWith(compact(inputs[1]!, partOf(1, inputs)), roots)).toBe("taken");
  });

  test("WB-25 does not verify with another signature", () => {
    const signature = new Uint8Array(first.signature);
    signature[40]! ^= 1;
    expect(
      statusWith(compact(inputs[1]!, { ...partOf(1, inputs), signature }), rootsAfter(first)),
    ).toBe(401);
  });

  test("WB-25 does not verify with another key", () => {
    // The editor has put an envelope of the researcher's under its own root. Only the researcher can
    // sign for it.
    const theirs = compact(inputs[2]!, partOf(2, inputs));
    expect(statusWith(theirs)).toBe(401);
    expect(statusWith(theirs, rootsAfter(first))).toBe(401);
  });

  test("WB-25 does not verify with another size", () => {
    expect(statusWith(compact(inputs[0]!, { ...first, size: 4 }), rootsAfter(first))).toBe(401);
  });

  test("WB-25 is the root of its own leaves only, wherever their nodes are known", () => {
    const known = INPUTS.slice(0, 7);
    const roots = batchRoots();
    known.forEach((input, index) => {
      const other = compact(inputOf(`not ${index}`), partOf(index, known));
      expect(statusWith(other, roots), `before leaf ${index}`).toBe(401);
      expect(statusWith(compact(input, partOf(index, known)), roots)).toBe("taken");
      expect(statusWith(other, roots), `after leaf ${index}`).toBe(401);
    });
  });

  test("WB-25 has one path to each leaf, in which no byte may differ", () => {
    const known = INPUTS.slice(0, 7);
    const roots = batchRoots();
    known.forEach((input, index) => {
      const part = partOf(index, known);
      expect(statusWith(compact(input, part), roots)).toBe("taken");
      part.path.forEach((_, changed) => {
        const path = part.path.map((node) => new Uint8Array(node));
        path[changed]![31]! ^= 1;
        expect(statusWith(compact(input, { ...part, path }), roots)).toBe(401);
      });
      expect(statusWith(compact(input, part), roots)).toBe("taken");
    });
  });

  test("WB-25 is cached only if its signature was valid", () => {
    const roots = batchRoots();
    const signature = new Uint8Array(64).fill(1);
    for (let again = 0; again < 2; again++) {
      expect(statusWith(compact(inputs[0]!, { ...first, signature }), roots)).toBe(401);
    }
  });
});

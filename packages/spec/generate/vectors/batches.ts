import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { AT, KEYRING } from "./check.ts";
import { changed, CANCEL } from "./envelope.ts";
import { digestOfJws, editor, id, leafOf, researcher, sha256 } from "./parties.ts";
import type { Party } from "./parties.ts";
import { base64url } from "./text.ts";
import { flip, headerOf, jws } from "./wire.ts";

const HASH = 32;
const HEAD = 8 + 64;

interface Tree {
  leaf(input: string): Buffer;
  node(left: Buffer, right: Buffer): Buffer;
  /** The text that is signed for a root of this many leaves. */
  signed(root: Buffer, size: number): Buffer;
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const TREE: Tree = {
  leaf: leafOf,
  node: (left, right) => sha256(Buffer.concat([Buffer.from([1]), left, right])),
  signed: (root, size) => Buffer.concat([Buffer.from("waybill batch 1\0"), uint32(size), root]),
};

/** RFC 9162 §2.1.1: more than one leaf split at the largest power of two below their number. */
function splitOf(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

function rootOf(leaves: readonly Buffer[], tree: Tree): Buffer {
  if (leaves.length === 1) return leaves[0]!;
  const split = splitOf(leaves.length);
  return tree.node(rootOf(leaves.slice(0, split), tree), rootOf(leaves.slice(split), tree));
}

/** From the leaf upwards. */
function pathOf(index: number, leaves: readonly Buffer[], tree: Tree): Buffer[] {
  if (leaves.length === 1) return [];
  const split = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return index < split
    ? [...pathOf(index, left, tree), rootOf(right, tree)]
    : [...pathOf(index - split, right, tree), rootOf(left, tree)];
}

interface Batch {
  readonly inputs: readonly string[];
  readonly leaves: readonly Buffer[];
  readonly signature: Buffer;
  readonly paths: readonly (readonly Buffer[])[];
}

function payloadOf(n: number): object {
  return changed(CANCEL, { id: id(100 + n), body: { reason: `number ${n}` } });
}

function inputOf(n: number, signer: Party): string {
  return `${base64url(headerOf("Ed25519-batch", signer.kid))}.${base64url(JSON.stringify(payloadOf(n)))}`;
}

function batchOf(size: number, tree: Tree = TREE, signer: Party = editor): Batch {
  const inputs = Array.from({ length: size }, (_, n) => inputOf(n, signer));
  const leaves = inputs.map(tree.leaf);
  const signature = Buffer.from(signer.sign(tree.signed(rootOf(leaves, tree), size)));
  return { inputs, leaves, signature, paths: leaves.map((_, n) => pathOf(n, leaves, tree)) };
}

/** The signature part of a single envelope that is signed as a batch of one. */
export function partOfOne(input: string, signer: Party): Buffer {
  const signature = Buffer.from(signer.sign(TREE.signed(TREE.leaf(input), 1)));
  return Buffer.concat([uint32(0), uint32(1), signature]);
}

interface Part {
  index: number;
  size: number;
  signature: Uint8Array;
  path: readonly Uint8Array[];
}

function envelopeOf(
  batch: Batch,
  n: number,
  change: (part: Part) => Partial<Part> = () => ({}),
): string {
  const part: Part = {
    index: n,
    size: batch.inputs.length,
    signature: batch.signature,
    path: batch.paths[n]!,
  };
  const { index, size, signature, path } = { ...part, ...change(part) };
  const bytes = Buffer.concat([uint32(index), uint32(size), signature, ...path]);
  return `${batch.inputs[n]!}.${base64url(bytes)}`;
}

type Given = readonly [compact: string, expect: object];

const read = (batch: Batch, n: number): Given => {
  const compact = envelopeOf(batch, n);
  return [compact, { status: "ok", digest: digestOfJws(compact), payload: payloadOf(n) }];
};
const refused = (status: number, compact: string): Given => [compact, { status }];

/** One verifier verifies all of them in this order, and may cache the roots. */
function inOrder(rules: readonly number[], title: string, ...given: readonly Given[]): Row {
  return {
    rules,
    title,
    input: { compacts: given.map(([compact]) => compact), keyring: KEYRING, at: AT },
    expect: { results: given.map(([, expect]) => expect) },
  };
}

function one(rules: readonly number[], title: string, status: number, compact: string): Row {
  return inOrder(rules, title, refused(status, compact));
}

const two = batchOf(2);
const three = batchOf(3);
const four = batchOf(4);
const five = batchOf(5);
const seven = batchOf(7);
const eight = batchOf(8);
const many = batchOf(64);
const byResearcher = batchOf(3, TREE, researcher);

/** A leaf that lacks a part of what it has to hash. */
function leafHash(
  input: string,
  { zero = [0], kid = `${editor.kid}\n` }: { zero?: number[]; kid?: string },
): Buffer {
  const payload = Buffer.from(input.split(".")[1]!, "base64url");
  return sha256(Buffer.concat([Buffer.from(zero), Buffer.from(kid), payload]));
}

/** The envelope of that number, signed alone. */
function aloneOf(n: number, tamper: (signature: Buffer) => Uint8Array = (own) => own): string {
  return jws(JSON.stringify(payloadOf(n)), editor, { tamper });
}

/** A batch with a correct root that is signed with another agent's key. */
function stolen(batch: Batch, n: number, signature: Uint8Array): string {
  return envelopeOf(batch, n, () => ({ signature }));
}

const [firstInput] = two.inputs as [string];

export const BATCHES: VectorFile = vectorFile(
  "batches",
  "batch",
  "Envelopes that share a signature, verified one after the other by the same verifier.",
  [
    inOrder([22, 24], "a batch of one", read(batchOf(1), 0)),
    inOrder([22, 24], "a batch of two", read(two, 0), read(two, 1)),
    inOrder(
      [23],
      "a batch of three: the last leaf has the shortest path",
      read(three, 0),
      read(three, 1),
      read(three, 2),
    ),
    inOrder([23], "a batch of five", ...[0, 1, 2, 3, 4].map((n) => read(five, n))),
    inOrder([23], "a batch of seven", read(seven, 6), read(seven, 5), read(seven, 0)),
    inOrder([23], "a batch of eight", read(eight, 7), read(eight, 0)),
    inOrder(
      [23, 25],
      "a batch of sixty-four",
      read(many, 63),
      read(many, 0),
      read(many, 31),
      read(many, 32),
    ),
    inOrder([25], "two batches of one key", read(three, 1), read(five, 1), read(three, 0)),
    inOrder([25], "batches of two keys", read(three, 1), [
      envelopeOf(byResearcher, 1),
      { status: 401 },
    ]),
    one(
      [22],
      "a size of 0",
      400,
      envelopeOf(two, 0, () => ({ size: 0, path: [] })),
    ),
    one(
      [22],
      "an index that is the size",
      400,
      envelopeOf(two, 1, () => ({ index: 2 })),
    ),
    one(
      [22],
      "an index of 2^32 - 1",
      400,
      envelopeOf(two, 1, () => ({ index: 2 ** 32 - 1 })),
    ),
    one(
      [22, 23],
      "an index and a size of 32 bits, with their path",
      401,
      envelopeOf(two, 1, ({ path }) => ({
        index: 2 ** 31,
        size: 2 ** 32 - 1,
        path: Array.from({ length: 32 }, () => path[0]!),
      })),
    ),
    one(
      [22],
      "a signature part of 71 bytes",
      400,
      `${firstInput}.${base64url(Buffer.alloc(HEAD - 1, 1))}`,
    ),
    one([22], "no signature part at all", 400, `${firstInput}.`),
    one(
      [22],
      "the signature of a lone envelope",
      400,
      `${firstInput}.${base64url(editor.sign(firstInput))}`,
    ),
    one(
      [18, 22],
      "the part of a batch under the header of a lone envelope",
      400,
      jws(JSON.stringify(payloadOf(0)), editor, {
        tamper: (bytes) => Buffer.concat([uint32(0), uint32(1), bytes]),
      }),
    ),
    one(
      [23],
      "a path with a node more",
      400,
      envelopeOf(two, 0, ({ path }) => ({ path: [...path, path[0]!] })),
    ),
    one(
      [23],
      "a path with a node less",
      400,
      envelopeOf(four, 0, ({ path }) => ({ path: path.slice(1) })),
    ),
    one(
      [23],
      "a path with a byte less",
      400,
      envelopeOf(two, 0, ({ path }) => ({ path: [path[0]!.subarray(1)] })),
    ),
    one(
      [23],
      "a path with a byte more",
      400,
      envelopeOf(two, 0, ({ path }) => ({ path: [path[0]!, Buffer.from([0])] })),
    ),
    one(
      [23],
      "a path of a thousand nodes",
      400,
      envelopeOf(two, 0, ({ path }) => ({ path: Array.from({ length: 1000 }, () => path[0]!) })),
    ),
    one(
      [20, 22],
      "the index of the leaf beside it",
      401,
      envelopeOf(two, 0, () => ({ index: 1 })),
    ),
    one(
      [20, 22],
      "the index of another leaf with a path of the same length",
      401,
      envelopeOf(eight, 2, () => ({ index: 6 })),
    ),
    one(
      [20],
      "a path with one bit changed",
      401,
      envelopeOf(five, 1, ({ path }) => ({ path: [path[0]!, flip(path[1]!, 31), path[2]!] })),
    ),
    one(
      [20],
      "a path in another order",
      401,
      envelopeOf(four, 1, ({ path }) => ({ path: path.toReversed() })),
    ),
    one(
      [20],
      "a signature with one bit changed",
      401,
      envelopeOf(two, 0, ({ signature }) => ({ signature: flip(signature, 9) })),
    ),
    one(
      [20],
      "another payload in the place of a leaf",
      401,
      `${inputOf(9, editor)}.${envelopeOf(two, 0).split(".")[2]!}`,
    ),
    one(
      [20],
      "a leaf of another batch",
      401,
      `${inputOf(4, editor)}.${envelopeOf(four, 0).split(".")[2]!}`,
    ),
    one(
      [22],
      "a size that is changed where the path stays as long",
      401,
      envelopeOf(three, 0, () => ({ size: 4 })),
    ),
    one(
      [22],
      "a size that is changed the other way",
      401,
      envelopeOf(four, 0, () => ({ size: 3 })),
    ),
    one(
      [22],
      "leaves hashed without their zero byte",
      401,
      envelopeOf(batchOf(2, { ...TREE, leaf: (input) => leafHash(input, { zero: [] }) }), 0),
    ),
    one(
      [22],
      "leaves hashed without the kid",
      401,
      envelopeOf(batchOf(2, { ...TREE, leaf: (input) => leafHash(input, { kid: "" }) }), 0),
    ),
    one(
      [22],
      "leaves hashed from header and payload as they stand in the string",
      401,
      envelopeOf(
        batchOf(2, {
          ...TREE,
          leaf: (input) => sha256(Buffer.concat([Buffer.from([0]), Buffer.from(input)])),
        }),
        0,
      ),
    ),
    inOrder(
      [3, 103],
      "an envelope alone and in two batches has one digest",
      [aloneOf(1), { status: "ok", digest: digestOfJws(aloneOf(1)), payload: payloadOf(1) }],
      [envelopeOf(three, 1), { status: "ok", digest: digestOfJws(aloneOf(1)) }],
      [envelopeOf(five, 1), { status: "ok", digest: digestOfJws(aloneOf(1)) }],
    ),
    inOrder(
      [103],
      "a digest that is known from a lone envelope, with a bad signature",
      read(three, 1),
      [aloneOf(1), { status: "ok", digest: digestOfJws(aloneOf(1)) }],
      refused(
        401,
        aloneOf(1, (signature) => flip(signature, 40)),
      ),
      refused(
        401,
        aloneOf(1, () => researcher.sign("anything")),
      ),
    ),
    inOrder(
      [103],
      "a digest that is known from a lone envelope, in a batch that nobody has signed",
      [aloneOf(1), { status: "ok", digest: digestOfJws(aloneOf(1)) }],
      refused(401, stolen(three, 1, flip(three.signature, 40))),
    ),
    one(
      [22],
      "nodes hashed without their one byte",
      401,
      envelopeOf(
        batchOf(2, { ...TREE, node: (left, right) => sha256(Buffer.concat([left, right])) }),
        0,
      ),
    ),
    one(
      [22],
      "a root that is signed by itself",
      401,
      envelopeOf(batchOf(2, { ...TREE, signed: (root) => root }), 0),
    ),
    one(
      [22],
      "a root that is signed under another name",
      401,
      envelopeOf(
        batchOf(2, {
          ...TREE,
          signed: (root, size) =>
            Buffer.concat([Buffer.from("waybill batch 2\0"), uint32(size), root]),
        }),
        0,
      ),
    ),
    one(
      [22],
      "a tree that lifts its odd leaf by pairing it with itself",
      401,
      envelopeOf(three, 2, ({ path }) => ({
        signature: editor.sign(
          TREE.signed(
            TREE.node(
              TREE.node(three.leaves[0]!, three.leaves[1]!),
              TREE.node(three.leaves[2]!, three.leaves[2]!),
            ),
            3,
          ),
        ),
        path,
      })),
    ),
    inOrder(
      [25],
      "a known root with another signature",
      read(three, 0),
      refused(401, stolen(three, 1, byResearcher.signature)),
      refused(401, stolen(three, 1, flip(three.signature, 40))),
    ),
    inOrder(
      [25],
      "a known signature over another root",
      read(three, 0),
      refused(401, stolen(five, 0, three.signature)),
    ),
    inOrder(
      [25],
      "a known root and signature with another size",
      read(four, 0),
      refused(
        401,
        envelopeOf(four, 0, () => ({ size: 3 })),
      ),
      read(four, 1),
    ),
    inOrder(
      [20, 25],
      "a good envelope, a bad one and again a good one",
      read(two, 0),
      refused(
        401,
        envelopeOf(two, 1, ({ path }) => ({ path: [flip(path[0]!, 0)] })),
      ),
      read(two, 1),
    ),
    inOrder(
      [27, 30],
      "a sound batch by the key of an agent that is not in from",
      refused(401, envelopeOf(byResearcher, 2)),
    ),
  ],
);

if (HASH * 6 !== many.paths[0]!.length * HASH) throw new Error("the tree of 64 has another shape");

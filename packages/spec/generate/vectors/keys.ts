import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { editor, jwkOf, researcher, thumbprint } from "./parties.ts";
import {
  basePoint,
  hexBytes,
  ORDER,
  plusTorsion,
  secretOf,
  signWith,
  SMALL_ORDER,
  SMALL_ORDER_OTHERWISE,
  toLittleEndian,
  torsionBlindNonce,
  withSPlusOrder,
} from "./points.ts";
import { flip } from "./wire.ts";

function enrols(rules: readonly number[], title: string, jwk: unknown, kid: string): Row {
  return { rules, title, input: { operation: "enrol", jwk }, expect: { status: "ok", kid } };
}

function refusesKey(
  rules: readonly number[],
  title: string,
  jwk: unknown,
  status: number = 401,
): Row {
  return { rules, title, input: { operation: "enrol", jwk }, expect: { status } };
}

const refusesPoint = (title: string, hex: string): Row =>
  refusesKey([15], `enrol: ${title}`, jwkOf(hexBytes(hex)));

const MESSAGE: Uint8Array = Buffer.from("waybill");
const SIGNATURE: Uint8Array = editor.sign(MESSAGE);

function verifies(
  rules: readonly number[],
  title: string,
  isValid: boolean,
  { key = editor.publicKey, message = MESSAGE, signature = SIGNATURE },
): Row {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
  return {
    rules,
    title,
    input: {
      operation: "verify",
      public_key: hex(key),
      message: hex(message),
      signature: hex(signature),
    },
    expect: { status: isValid ? "ok" : 401 },
  };
}

/** RFC 8032, section 7.1: tests 1, 2, 3 and SHA(abc). */
const RFC_8032: readonly (readonly [
  title: string,
  key: string,
  message: string,
  signature: string,
])[] = [
  [
    "test 1 of RFC 8032",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "test 2 of RFC 8032",
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "test 3 of RFC 8032",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
  [
    "test SHA(abc) of RFC 8032",
    "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
  ],
];

const secret = secretOf(editor);
const NONCE = 11n;
const P = 2n ** 255n - 19n;
const R = basePoint(NONCE).toBytes();
const torsion = (order: number): string => SMALL_ORDER.find(([each]) => each === order)![1];
const signedAs = (key: Uint8Array, r: Uint8Array, nonce: bigint) =>
  signWith(MESSAGE, secret, key, nonce, r);
const keyWithTorsion = (order: number): Uint8Array =>
  plusTorsion(basePoint(secret), torsion(order)).toBytes();

/** A signature that the cofactorless equation accepts although the key has torsion. */
function blindSignature(key: Uint8Array): Uint8Array {
  const nonce = torsionBlindNonce(MESSAGE, key);
  return signedAs(key, basePoint(nonce).toBytes(), nonce);
}

const X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const RFC_8037 = { kty: "OKP", crv: "Ed25519", x: X };

const ENROLMENT: readonly Row[] = [
  enrols(
    [16, 17],
    "the key of RFC 8037, with the thumbprint given there",
    RFC_8037,
    "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
  ),
  enrols(
    [16, 17],
    "members in another order, and some that nobody knows",
    { x: X, use: "sig", crv: "Ed25519", kid: "mine", kty: "OKP" },
    "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
  ),
  enrols([16], "a key of these vectors", researcher.jwk, thumbprint(researcher.publicKey)),
  refusesKey(
    [17],
    "a private key",
    { ...RFC_8037, d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A" },
    400,
  ),
  refusesKey([17], "a private key whose d is empty", { ...RFC_8037, d: "" }, 400),
  refusesKey([17], "a private key whose d is null", { ...RFC_8037, d: null }, 400),
  refusesKey([15, 17], "no kty", { crv: "Ed25519", x: X }),
  refusesKey([15, 17], "a key for a NIST curve", { ...RFC_8037, kty: "EC", crv: "P-256" }),
  refusesKey([15, 17], "a key for key agreement", { ...RFC_8037, crv: "X25519" }),
  refusesKey([15, 17], "no x", { kty: "OKP", crv: "Ed25519" }),
  refusesKey([15], "a key of 31 bytes", { ...RFC_8037, x: jwkOf(editor.publicKey.subarray(1)).x }),
  refusesKey([15], "a key of 33 bytes", {
    ...RFC_8037,
    x: jwkOf(Buffer.concat([editor.publicKey, Buffer.from([0])])).x,
  }),
  refusesKey([15], "a key of no bytes", { ...RFC_8037, x: "" }),
  ...SMALL_ORDER.map(([order, hex], index) =>
    refusesPoint(`point ${index + 1} of small order: ${order}`, hex),
  ),
  ...SMALL_ORDER_OTHERWISE.map(([title, hex]) => refusesPoint(title, hex)),
  ...[3n, 4n, 5n, 6n, 9n, 10n, 14n, 15n, 16n, 18n].map((y) =>
    refusesPoint(`${y}, written as p + ${y}`, toLittleEndian(P + y).toString("hex")),
  ),
  refusesPoint("bytes of ones", "ff".repeat(32)),
  refusesPoint("a y that is on no point of the curve: 2", `02${"00".repeat(31)}`),
  refusesPoint("a y that is on no point of the curve: 7", `07${"00".repeat(31)}`),
  ...[2, 4, 8].map((order) =>
    refusesKey(
      [15],
      `enrol: a key with a torsion component of order ${order}`,
      jwkOf(keyWithTorsion(order)),
    ),
  ),
];

const VERIFICATION: readonly Row[] = [
  ...RFC_8032.map(([title, key, message, signature]) =>
    verifies([12], title, true, {
      key: hexBytes(key),
      message: hexBytes(message),
      signature: hexBytes(signature),
    }),
  ),
  verifies([12], "a signature by a key of these vectors", true, {}),
  verifies([12], "a signature made point by point", true, {
    signature: signedAs(editor.publicKey, R, NONCE),
  }),
  ...[0, 15, 31].map((n) =>
    verifies([12], `R with a bit changed in byte ${n}`, false, { signature: flip(SIGNATURE, n) }),
  ),
  ...[32, 47, 63].map((n) =>
    verifies([12], `S with a bit changed in byte ${n}`, false, { signature: flip(SIGNATURE, n) }),
  ),
  verifies([12], "another message", false, { message: flip(MESSAGE, 0) }),
  verifies([12], "an empty message for another", false, { message: Buffer.alloc(0) }),
  verifies([12], "another key", false, { key: researcher.publicKey }),
  verifies([12], "R and S swapped", false, {
    signature: Buffer.concat([SIGNATURE.subarray(32), SIGNATURE.subarray(0, 32)]),
  }),
  verifies([12], "a signature of 63 bytes", false, { signature: SIGNATURE.subarray(0, 63) }),
  verifies([12], "a signature of 65 bytes", false, {
    signature: Buffer.concat([SIGNATURE, Buffer.from([0])]),
  }),
  verifies([12], "an empty signature", false, { signature: Buffer.alloc(0) }),
  verifies([12], "a signature of zeros", false, { signature: Buffer.alloc(64) }),
  ...[2, 4, 8].map((order) =>
    verifies(
      [12],
      `R with torsion of order ${order}, which only a cofactored verifier takes`,
      false,
      {
        signature: signedAs(
          editor.publicKey,
          plusTorsion(basePoint(NONCE), torsion(order)).toBytes(),
          NONCE,
        ),
      },
    ),
  ),
  verifies([13], "S with the order added", false, { signature: withSPlusOrder(SIGNATURE) }),
  verifies([13], "S that is the order", false, {
    signature: Buffer.concat([R, toLittleEndian(ORDER)]),
  }),
  verifies([13], "S of ones", false, { signature: Buffer.concat([R, Buffer.alloc(32, 0xff)]) }),
  verifies([14], "R the identity, where the equation holds", false, {
    signature: signedAs(editor.publicKey, hexBytes(torsion(1)), 0n),
  }),
  ...SMALL_ORDER.slice(1).map(([order, hex], index) =>
    verifies([14], `R that is point ${index + 2} of small order: ${order}`, false, {
      signature: signedAs(editor.publicKey, hexBytes(hex), 0n),
    }),
  ),
  ...SMALL_ORDER_OTHERWISE.map(([title, hex]) =>
    verifies([14], `R that is ${title}`, false, {
      signature: signedAs(editor.publicKey, hexBytes(hex), 0n),
    }),
  ),
  verifies([15], "the identity as the key, where R = [S]B for every message", false, {
    key: hexBytes(torsion(1)),
    signature: Buffer.concat([R, toLittleEndian(NONCE)]),
  }),
  ...[2, 4, 8].map((order) => {
    const key = keyWithTorsion(order);
    return verifies([15], `a key with torsion of order ${order}, where the equation holds`, false, {
      key,
      signature: blindSignature(key),
    });
  }),
  verifies([15], "a key that is written with its y above p", false, {
    key: toLittleEndian(P + 3n),
  }),
  verifies([15], "a key of 31 bytes, to verify with", false, { key: editor.publicKey.subarray(1) }),
];

export const KEYS: VectorFile = vectorFile(
  "keys",
  "key",
  "Keys to enrol, and signatures to verify under a key.",
  [...ENROLMENT, ...VERIFICATION],
);

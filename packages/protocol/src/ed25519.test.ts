/// <reference types="node" />
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as ed25519 from "./ed25519.ts";
import * as portable from "./ed25519-portable.ts";
import * as nodePlatform from "./platform/platform.node.ts";
import * as portablePlatform from "./platform/platform.ts";
import { sodiumPlatform } from "./platform/sodium-fixture.ts";

const PATHS: [string, typeof ed25519 & typeof portable, typeof nodePlatform][] = [
  ["node", ed25519, nodePlatform],
  ["portable", portable, portablePlatform],
  ["node with sodium-native", sodiumPlatform, sodiumPlatform],
];

interface Rfc8032Vector {
  priv: string;
  pub: string;
  msg: string;
  sig: string;
}

interface Wycheproof {
  numberOfTests: number;
  testGroups: {
    publicKey: { pk: string };
    tests: { tcId: number; comment: string; msg: string; sig: string; result: string }[];
  }[];
}

/** RFC 8032 §7.1: tests 1, 2, 3 and SHA(abc). */
const RFC8032: Rfc8032Vector[] = [
  {
    priv: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    pub: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    msg: "",
    sig: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    priv: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    pub: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    msg: "72",
    sig: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
  {
    priv: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    pub: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    msg: "af82",
    sig: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  },
  {
    priv: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
    pub: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    msg: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    sig: "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
  },
];

// The larger vector sets belong to others and are not part of this repository.
const VECTORS = new URL("../../../../shared/vectors/", import.meta.url);

function readVectors<T>(name: string): T | undefined {
  const file = new URL(name, VECTORS);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : undefined;
}

function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

describe.each(PATHS)("%s", (_, { checkPublicKey, publicKeyOf, sign, verify }, platform) => {
  function expectRfc8032(vectors: Rfc8032Vector[]): void {
    for (const vector of vectors) {
      const key = bytes(vector.priv);
      const message = bytes(vector.msg);
      expect(publicKeyOf(key), vector.priv).toEqual(bytes(vector.pub));
      expect(sign(message, key), vector.priv).toEqual(bytes(vector.sig));
      expect(verify(bytes(vector.sig), message, bytes(vector.pub)), vector.priv).toBe(true);
    }
  }

  test("RFC 8032", () => expectRfc8032(RFC8032));

  test("RFC 8032, the vectors beside the repository", (context) => {
    const vectors = readVectors<Rfc8032Vector[]>("rfc8032-ed25519.json");
    if (vectors === undefined) return context.skip("shared/vectors is not beside the repository");
    expect(vectors.length).toBeGreaterThanOrEqual(4);
    expectRfc8032(vectors);
  });

  test("Wycheproof", (context) => {
    const vectors = readVectors<Wycheproof>("wycheproof-ed25519.json");
    if (vectors === undefined) return context.skip("shared/vectors is not beside the repository");
    const cases = vectors.testGroups.flatMap(({ publicKey, tests }) =>
      tests.map((one) => ({ ...one, key: bytes(publicKey.pk) })),
    );
    expect(cases).toHaveLength(vectors.numberOfTests);
    for (const one of cases) {
      const verdict = verify(bytes(one.sig), bytes(one.msg), one.key);
      expect(verdict, `${one.tcId} ${one.comment}`).toBe(one.result === "valid");
    }
  });

  const vector = RFC8032[2]!;
  const signature = bytes(vector.sig);
  const message = bytes(vector.msg);
  const publicKey = bytes(vector.pub);

  test("a signer and a verifier keep a copy of their key", () => {
    const signs = platform.signer(bytes(vector.priv));
    const holds = platform.verifier(publicKey)!;
    for (const text of ["", "one", "two"]) {
      const signed = signs(platform.utf8(text));
      expect(signed).toEqual(sign(platform.utf8(text), bytes(vector.priv)));
      expect(holds(platform.utf8(text), signed)).toBe(true);
      expect(holds(platform.utf8(`${text}.`), signed)).toBe(false);
    }
    expect(platform.verifier(new Uint8Array(32))).toBeUndefined();
  });

  test("overwriting the bytes of a key afterwards changes no verdict", () => {
    // A new key, so that this call is the one that caches it.
    const privateKey = platform.randomBytes(32);
    const key = publicKeyOf(privateKey);
    const before = key.slice();
    const signs = platform.signer(privateKey);
    const holds = platform.verifier(key)!;
    privateKey.fill(1);
    key.fill(1);
    const signed = signs(message);
    expect(holds(message, signed)).toBe(true);
    expect(verify(signed, message, before)).toBe(true);
    expect(verify(signed, message, key)).toBe(false);
  });

  test("bytes may be any view, of any realm", async () => {
    const { runInNewContext } = await import("node:vm");
    const foreign = (source: Uint8Array): Uint8Array =>
      runInNewContext("Uint8Array.from(source)", { source }) as Uint8Array;
    expect(foreign(message)).not.toBeInstanceOf(Uint8Array);
    for (const of of [Buffer.from, foreign, (source: Uint8Array) => source.subarray()]) {
      expect(verify(of(signature), of(message), of(publicKey))).toBe(true);
      expect(checkPublicKey(of(publicKey))).toBe(true);
      expect(sign(of(message), of(bytes(vector.priv)))).toEqual(signature);
    }
  });

  const WRONG: unknown[] = [
    undefined,
    null,
    0,
    true,
    "",
    vector.sig,
    [...signature],
    { length: 64 },
    new Uint16Array(32),
    new DataView(new ArrayBuffer(64)),
    new ArrayBuffer(64),
    Object.create(Uint8Array.prototype),
    new Proxy(signature, {}),
  ];

  test.each(WRONG.map((wrong) => [Object.prototype.toString.call(wrong), wrong]))(
    "%s is not bytes: false, and never an exception",
    (_name, wrong) => {
      expect(verify(wrong as Uint8Array, message, publicKey)).toBe(false);
      expect(verify(signature, wrong as Uint8Array, publicKey)).toBe(false);
      expect(verify(signature, message, wrong as Uint8Array)).toBe(false);
      expect(checkPublicKey(wrong as Uint8Array)).toBe(false);
      expect(platform.verifier(wrong as Uint8Array)).toBeUndefined();
      const holds = platform.verifier(publicKey)!;
      expect(holds(wrong as Uint8Array, signature)).toBe(false);
      expect(holds(message, wrong as Uint8Array)).toBe(false);
      expect(() => sign(wrong as Uint8Array, bytes(vector.priv))).toThrow("The data to sign");
      expect(() => sign(message, wrong as Uint8Array)).toThrow("seed of 32 bytes");
      expect(() => publicKeyOf(wrong as Uint8Array)).toThrow("seed of 32 bytes");
    },
  );

  test("signatures and keys of every other length are refused", () => {
    for (let length = 0; length <= 130; length++) {
      const longer = new Uint8Array(length);
      longer.set(signature.subarray(0, length));
      expect(verify(longer, message, publicKey), `${length}`).toBe(length === 64);
      longer.fill(0).set(publicKey.subarray(0, length));
      expect(checkPublicKey(longer), `${length}`).toBe(length === 32);
      expect(verify(signature, message, longer), `${length}`).toBe(length === 32);
    }
    for (const length of [0, 31, 33, 64]) {
      expect(() => sign(message, new Uint8Array(length))).toThrow(`but this is ${length} bytes`);
    }
  });

  test("2 GiB are too long to sign, and no signature is valid for them", () => {
    class Long extends Uint8Array {
      override get length(): number {
        return 2 ** 31;
      }
    }
    expect(() => sign(new Long(), bytes(vector.priv))).toThrow("2147483648 bytes");
    expect(verify(sign(new Uint8Array(), bytes(vector.priv)), new Long(), publicKey)).toBe(false);
  });

  test("recently used keys are cached, and only those", () => {
    const key = (i: number): Uint8Array => Uint8Array.of(i, i >> 8, ...publicKey.subarray(2));
    const flood = Array.from({ length: 1500 }, (_unused, i) => key(i));
    const inUse = platform.verifier(publicKey);
    const notInUse = platform.verifier(bytes(RFC8032[0]!.pub));
    const verdicts = flood.map((one) => {
      expect(platform.verifier(publicKey)).toBe(inUse);
      return checkPublicKey(one);
    });
    expect(verdicts).toContain(false);
    expect(platform.verifier(bytes(RFC8032[0]!.pub))).not.toBe(notInUse);
    expect(flood.slice(0, 300).map(checkPublicKey)).toEqual(verdicts.slice(0, 300));
    expect(verify(signature, message, publicKey)).toBe(true);
  });
});

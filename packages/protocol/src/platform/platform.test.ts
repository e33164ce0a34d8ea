/// <reference types="node" />
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as chosen from "#platform";
import * as node from "./platform.node.ts";
import * as portable from "./platform.ts";

// The types ensure that each can replace the other; the first test compares their names.
const PATHS: [string, typeof node & typeof portable][] = [
  ["node", node],
  ["portable", portable],
];

test("both paths export the same names, and Node uses its own", () => {
  expect(Object.keys(portable).toSorted()).toEqual(Object.keys(node).toSorted());
  expect(chosen.verify).toBe(node.verify);
});

describe.each(PATHS)("%s", (_, platform) => {
  test("base64url is that of RFC 4648, without padding", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64url");
        expect(platform.toBase64url(bytes)).toBe(text);
        expect(platform.fromBase64url(text)).toEqual(bytes);
      }),
      { numRuns: 500 },
    );
  });

  test("base64url of a window of a larger array", () => {
    expect(platform.toBase64url(Uint8Array.of(0, 0, 255, 254, 253, 0).subarray(2, 5))).toBe("__79");
  });

  test("base64url accepts no other encoding", () => {
    const refused = [
      ..."A AAAAA AB AAB /w +w _w== _w= _w\n AA\0A AA.A AAAÁ AAAŁ".split(" "),
      " _w",
      "_w ",
      "AA AA",
      "AAA=",
      "AAAA====",
      "\uFEFFAAAA",
    ];
    for (const text of refused) expect(platform.fromBase64url(text), text).toBeUndefined();
    for (const text of ["", "_w", "AA", "AAA", "AAE"]) {
      expect(platform.fromBase64url(text), text).toBeInstanceOf(Uint8Array);
    }
  });

  test("base64url of a long text accepts no other encoding at any place", () => {
    // Around the pieces in which the encoding may be compared.
    for (const length of [12_287, 12_288, 12_289, 40_000]) {
      const bytes = Uint8Array.from({ length }).map((_byte, index) => index % 251);
      const text = Buffer.from(bytes).toString("base64url");
      expect(platform.fromBase64url(text)).toEqual(bytes);
      for (const at of [0, 16_383, 16_384, text.length - 1].filter((each) => each < text.length)) {
        for (const wrong of ["=", "+", " ", ""]) {
          const changed = text.slice(0, at) + wrong + text.slice(at + 1);
          const isCanonical = Buffer.from(changed, "base64url").toString("base64url") === changed;
          expect(platform.fromBase64url(changed) !== undefined, `${at}`).toBe(isCanonical);
        }
      }
    }
  });

  test("every text is either refused or encodes to itself again", () => {
    const character = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(..."ABQgwz019-_") },
      { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
      { weight: 1, arbitrary: fc.constantFrom("=", "+", "/", " ", "\n", "\t") },
    );
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 14 }), (text) => {
        const canonical = Buffer.from(text, "base64url").toString("base64url") === text;
        const bytes = platform.fromBase64url(text);
        expect(bytes !== undefined).toBe(canonical);
        if (bytes !== undefined) expect(platform.toBase64url(bytes)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  test("hash and base64url of a text are those of its UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const bytes = platform.utf8(text);
        expect(bytes).toEqual(new Uint8Array(Buffer.from(text, "utf8")));
        expect(platform.textToBase64url(text)).toBe(platform.toBase64url(bytes));
        expect(platform.sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
        expect(Buffer.from(platform.sha256OfText(text)).toString("hex")).toBe(
          platform.sha256Hex(text),
        );
        const running = platform.runningSha256();
        for (const byte of bytes) running.update(Uint8Array.of(byte));
        expect(running.hex()).toBe(platform.sha256Hex(text));
        expect(platform.sha256(bytes)).toEqual(
          new Uint8Array(createHash("sha256").update(bytes).digest()),
        );
        expect(platform.utf8Text(bytes)).toBe(text);
      }),
    );
    expect(platform.utf8("a\uD800b")).toEqual(platform.utf8("a\uFFFDb"));
  });

  test("the HMAC is that of RFC 2104, for keys of every length", () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(bytes, bytes, (key, message) => {
        const expected = createHmac("sha256", key).update(message).digest();
        expect(platform.hmacSha256(key, message)).toEqual(new Uint8Array(expected));
      }),
    );
  });

  test("bytes are equal if all of them and their number are", () => {
    const bytes = platform.randomBytes(32);
    expect(platform.isSame(bytes, bytes.slice())).toBe(true);
    for (const at of [0, 15, 31]) {
      const other = bytes.with(at, bytes[at]! ^ 1);
      expect(platform.isSame(bytes, other)).toBe(false);
    }
    expect(platform.isSame(bytes, bytes.slice(1))).toBe(false);
    expect(platform.isSame(new Uint8Array(), new Uint8Array())).toBe(true);
  });

  test("a byte order mark is kept, and invalid UTF-8 is refused", () => {
    expect(platform.utf8Text(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41))).toBe("\uFEFFA");
    const refused = ["ff", "c0af", "e28", "eda080", "f4908080", "80", "41c3", "f8888080"];
    for (const hex of refused) {
      const bytes = Uint8Array.from(hex.match(/..?/g)!, (byte) => Number.parseInt(byte, 16));
      expect(platform.utf8Text(bytes), hex).toBeUndefined();
    }
  });

  test("random bytes have the requested length and do not repeat", () => {
    for (const length of [0, 1, 16, 64, 65, 5000]) {
      expect(platform.randomBytes(length)).toHaveLength(length);
    }
    const drawn = Array.from({ length: 2000 }, () =>
      platform.toBase64url(platform.randomBytes(16)),
    );
    expect(new Set(drawn).size).toBe(2000);
    const counts = Array.from({ length: 256 }, () => 0);
    for (const byte of platform.randomBytes(50_000)) counts[byte]!++;
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });

  test("bytes are plain arrays of their own, and never a Buffer", () => {
    const key = platform.randomBytes(32);
    const results = [
      key,
      platform.sha256(key),
      platform.hmacSha256(key, key),
      platform.utf8("text"),
      platform.fromBase64url("AAAA")!,
      platform.publicKeyOf(key),
      platform.sign(key, key),
    ];
    for (const bytes of results) expect(bytes.constructor).toBe(Uint8Array);
  });
});

import { expect, test } from "vitest";
import { utf8 } from "#platform";
import { digestOf, digestOfBytes, isDigest, runningDigest } from "./digest.ts";

test("equals the output of sha256sum for the UTF-8", () => {
  expect(digestOf("abc")).toBe(
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  expect(digestOf("")).toBe(
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
  expect(digestOf("é😀")).toBe(digestOfBytes(new Uint8Array([0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x80])));
  for (const text of ["", "abc", "0".repeat(1000), "ü"])
    expect(digestOfBytes(utf8(text))).toBe(digestOf(text));
});

test("of bytes in pieces equals that of the whole", () => {
  const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => (index * 7) % 256);
  for (const length of [1, 63, 64, 65, 1_000]) {
    const running = runningDigest();
    for (let at = 0; at < 1_000; at += length) running.update(bytes.subarray(at, at + length));
    expect(running.digest()).toBe(digestOfBytes(bytes));
  }
  expect(runningDigest().digest()).toBe(digestOf(""));
});

test("is recognised in its one spelling", () => {
  const digest = digestOf("abc");
  expect(isDigest(digest)).toBe(true);
  for (const other of [
    digest.toUpperCase(),
    digest.replace("ba78", "BA78"),
    digest.slice(7),
    digest.slice(0, -1),
    `${digest}0`,
    `${digest}\n`,
    ` ${digest}`,
    digest.replace("sha256", "sha512"),
    digest.replace(/.$/, "g"),
    "",
    undefined,
    null,
    [digest],
  ]) {
    expect(isDigest(other)).toBe(false);
  }
});

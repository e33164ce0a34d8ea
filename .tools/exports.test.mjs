import assert from "node:assert/strict";
import test from "node:test";
import { surveyNeeds } from "./exports.mjs";

/** The unneeded exports of package `a`, in a workspace with these files. */
function unneededIn(files, exports = { ".": "./src/index.ts" }) {
  const all = [
    { name: "@waybill/a", folder: "packages/a", manifest: { exports } },
    { name: "@waybill/b", folder: "packages/b", manifest: { private: true } },
  ];
  const found = surveyNeeds({ all, files: Object.keys(files), read: (file) => files[file] });
  return found.flatMap(({ entry, unneeded }) => unneeded.map(({ name }) => `${entry} ${name}`));
}

const INDEX = 'export { one, two } from "./numbers.ts";';
const NUMBERS = "export const one = 1;\nexport const two = 2;";
const own = { "packages/a/src/index.ts": INDEX, "packages/a/src/numbers.ts": NUMBERS };

test("lists exports that no other package imports, even if the package itself uses them", () => {
  const files = {
    ...own,
    "packages/a/src/numbers.test.ts": 'import { two } from "@waybill/a";',
    "packages/b/src/use.ts": 'import { one } from "@waybill/a";',
  };
  assert.deepEqual(unneededIn(files), ["@waybill/a two"]);
});

test("an example needs its imports, and a page the names in its code", () => {
  const files = {
    ...own,
    "packages/a/examples/first.ts": 'import { one } from "@waybill/a";',
    "packages/a/README.md": "Use `two()`.",
  };
  assert.deepEqual(unneededIn(files), []);
  assert.deepEqual(unneededIn({ ...files, "packages/a/README.md": "These two are useful." }), [
    "@waybill/a two",
  ]);
});

test("a namespace is used by its members, and an entry point only by its own name", () => {
  const exports = { ".": "./src/index.ts", "./more": "./src/more.ts" };
  const files = {
    ...own,
    "packages/a/src/more.ts": "export const three = 3;",
    "packages/b/src/use.ts": 'import * as a from "@waybill/a";\na.one; a.three;',
    "packages/b/src/late.ts": 'const a = await import("@waybill/a");\na.two;',
  };
  assert.deepEqual(unneededIn(files, exports), ["@waybill/a/more three"]);
});

test("the signature of a needed export needs the types that it names, and its body needs none", () => {
  const files = {
    "packages/a/src/index.ts": [
      'import type { Inner } from "./inner.ts";',
      "export interface Given { inner: Inner }",
      "export interface Kept {}",
      "export function run(given: Given): void { const kept: Kept = {}; }",
      'export type { Deep, Inner } from "./inner.ts";',
    ].join("\n"),
    "packages/a/src/inner.ts": "export interface Deep {}\nexport type Inner = Deep | string;",
    "packages/b/src/use.ts": 'import { run } from "@waybill/a";',
  };
  assert.deepEqual(unneededIn(files), ["@waybill/a Kept"]);
});

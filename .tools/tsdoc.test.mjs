import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { survey } from "./tsdoc.mjs";
import { root } from "./workspace.mjs";

function lackingIn(files, exports = { ".": "./src/index.ts" }) {
  const all = [
    { name: "a", folder: "packages/a", manifest: { exports } },
    {
      name: "b",
      folder: "packages/b",
      manifest: { private: true, exports: { "./sub": "./src/sub.ts" } },
    },
  ];
  const sources = new Map(
    Object.entries(files).map(([path, text]) => [join(root, "packages", path), text]),
  );
  const [{ name, count, lacking }] = survey(all, (path) => sources.get(path));
  assert.equal(name, "a");
  return { count, lacking: lacking.map((symbol) => `${symbol.name}:${symbol.line}`) };
}

test("lists exports without a comment of their own", () => {
  const source = [
    "/** Said. */",
    "export interface Said {}",
    "export type Silent = string;",
    "// No TSDoc.",
    "export const silent = 1, too = 2;",
    "/** Said. */",
    "export async function said(): Promise<void> {}",
    "/* Not either. */ export class Quiet {}",
    "function inner() {}",
  ].join("\n");
  assert.deepEqual(lackingIn({ "a/src/index.ts": source }), {
    count: 6,
    lacking: ["Silent:3", "silent:5", "too:5", "Quiet:8"],
  });
});

test("finds a symbol's declaration through imports and other packages", () => {
  const files = {
    "a/src/index.ts": [
      'import { three as drei } from "./other.ts";',
      'export { one, type Two as Zwei } from "./other.ts";',
      'export { four } from "b/sub";',
      'export { z } from "zod";',
      'export * from "./more.ts";',
      "export { drei };",
    ].join("\n"),
    "a/src/other.ts": [
      "export const one = 1;",
      "/** Two. */",
      "interface Two {}",
      "export type { Two };",
      "export const three = 3;",
    ].join("\n"),
    "a/src/more.ts": "export enum Five {}",
    "b/src/sub.ts": "export function four() {}",
  };
  assert.deepEqual(lackingIn(files), {
    count: 5,
    lacking: ["Five:1", "one:1", "four:1", "three:5"],
  });
});

test("one comment documents all overloads, and a symbol exported by two subpaths counts once", () => {
  const exports = { ".": "./src/index.ts", "./same": "./src/index.ts", "./data": "./data.json" };
  const source =
    "/** Said. */\nexport function f(a: 1): 1;\nexport function f(a: 2): 2;\nexport function f(a: unknown): unknown { return a; }";
  assert.deepEqual(lackingIn({ "a/src/index.ts": source }, exports), { count: 1, lacking: [] });
});

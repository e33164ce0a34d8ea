import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const RULE = /^\*\*(WB-\d+)\*\* /;
// The only paragraph that is about the word itself.
const ON_THE_WORD = "are used as in RFC 2119";

const paragraphs = readFileSync(new URL("../specification.md", import.meta.url), "utf8")
  .split(/\n{2,}/)
  .map((paragraph) => paragraph.trim());
const rules = paragraphs.flatMap((paragraph) => RULE.exec(paragraph)?.[1] ?? []);

const folder = new URL("../../protocol/src/rules/", import.meta.url);
const titles = readdirSync(folder)
  .filter((name) => name.endsWith(".test.ts"))
  .flatMap((name) => titlesIn(readFileSync(new URL(name, folder), "utf8")));

/** The titles of the tests in a source, verbatim. A computed title would not be counted. */
function titlesIn(source: string): string[] {
  const tests = source.match(/^ *test\b/gm) ?? [];
  const found = source.matchAll(/^ *test(?:\.each\(\w+\))?\(\s*"((?:[^"\\]|\\.)*)"/gm);
  const read = Array.from(found, ([, title]) => title!);
  expect(read).toHaveLength(tests.length);
  return read;
}

// Rules are placed by topic, so the number of a rule says nothing about its place. A number is never
// reused.
test("every rule of the specification has a unique number", () => {
  expect(rules.length).toBeGreaterThan(0);
  expect(rules.filter((rule) => !/^WB-(0[1-9]|[1-9]\d{1,2})$/.test(rule))).toEqual([]);
  expect(new Set(rules).size).toBe(rules.length);
});

test("every MUST of the specification has a number, and every number stands before its paragraph", () => {
  const unnumbered = paragraphs.filter(
    (paragraph) =>
      paragraph.includes("MUST") && !RULE.test(paragraph) && !paragraph.includes(ON_THE_WORD),
  );
  expect(unnumbered).toEqual([]);
  const mentioned = paragraphs.flatMap((paragraph) => paragraph.match(/\*\*WB-\d+\*\*/g) ?? []);
  expect(mentioned).toHaveLength(rules.length);
});

test("every rule is in the title of a test, and no test names an unknown rule", () => {
  const named = new Set(titles.flatMap((title) => title.match(/^WB-\d+(?= )/) ?? []));
  expect(rules.filter((rule) => !named.has(rule))).toEqual([]);
  expect([...named].filter((rule) => !rules.includes(rule))).toEqual([]);
  expect(titles.filter((title) => !/^WB-\d{2,3} /.test(title))).toEqual([]);
});

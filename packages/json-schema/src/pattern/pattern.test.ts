import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonSchemaError } from "../error.ts";
import { compileMetered } from "./pattern.ts";
import { PatternMemory } from "./search.ts";

function stepsOf(source: string, text: string): { found: boolean; steps: number; size: number } {
  const pattern = compileMetered(source);
  let steps = 0;
  const found = pattern.test(text, (count) => {
    steps += count;
  });
  return { found, steps, size: pattern.size };
}

function refusalOf(source: string): string | undefined {
  try {
    compileMetered(source);
    return undefined;
  } catch (error) {
    return JsonSchemaError.is(error) ? error.kind : `threw ${String(error)}`;
  }
}

/** Pieces that together reach every rule of the syntax, valid and invalid. */
const PIECES = [
  ..."abcxyz0159 _-.*+?|()[]{}^$,:=!<>\\/é😀\n\t",
  "\\d",
  "\\D",
  "\\w",
  "\\W",
  "\\s",
  "\\S",
  "\\b",
  "\\B",
  "\\.",
  "\\-",
  "\\n",
  "\\0",
  "\\cJ",
  "\\x41",
  "\\u0061",
  "\\u{1F600}",
  "\\ud83d\\ude00",
  "\\ud83d",
  "\\p{L}",
  "\\P{Lu}",
  "\\p{Script=Greek}",
  "\\p{Nope}",
  "\\k<n>",
  "\\1",
  "(?:",
  "(?<n>",
  "(?=",
  "(?!",
  "(?<=",
  "(?<!",
  "[a-c]",
  "[^a]",
  "[\\d-]",
  "[\\w-x]",
  "{2}",
  "{0,2}",
  "{1,}",
  "{,2}",
  "??",
];

const tree = fc.letrec<{ node: string; atom: string; branch: string }>((tie) => ({
  atom: fc.oneof(
    fc.constantFrom(
      ..."abcé😀 _-0",
      ".",
      "\\d",
      "\\w",
      "\\W",
      "\\s",
      "\\b",
      "\\B",
      "^",
      "$",
      "\\p{L}",
      "\\P{Lu}",
      "\\n",
    ),
    fc.constantFrom(
      "[a-c]",
      "[^a-b]",
      "[\\d_-]",
      "[^\\w]",
      "[]",
      "[^]",
      "[\\b]",
      "[😀-😂]",
      "[^\\P{L}]",
      "()",
      "(?:)",
    ),
  ),
  branch: fc.oneof(
    fc.tuple(tie("node"), tie("node")).map((parts) => parts.join("")),
    fc.tuple(tie("node"), tie("node")).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(
        tie("node"),
        fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{1,3}", "{2,}", "{0,1}?"),
      )
      .map(([body, count]) => `(${body})${count}`),
  ),
  node: fc.oneof({ depthSize: "small" }, tie("atom"), tie("branch")),
}));

const text = fc
  .array(fc.constantFrom(..."abcABé😀😂 _-09\n\u2028", "\ud83d", "\u0391", "\b"), { maxLength: 12 })
  .map((parts) => parts.join(""));

describe("compilePattern", () => {
  it("finds what the native engine finds, for any pattern and text", () => {
    fc.assert(
      fc.property(tree.node, fc.array(text, { minLength: 4, maxLength: 8 }), (source, texts) => {
        const native = new RegExp(source, "u");
        const pattern = compileMetered(source);
        for (const each of texts) {
          // V8 looks for an empty match between the halves of a surrogate pair, where ECMA-262 has no position.
          if (source.includes("\\B") && /[\ud83d]/.test(each)) continue;
          expect([source, each, pattern.test(each)]).toEqual([source, each, native.test(each)]);
        }
      }),
      { numRuns: 6_000 },
    );
  });

  it("accepts and refuses what the native engine accepts and refuses, except what needs backtracking", () => {
    let compared = 0;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 7 }),
        text,
        (pieces, sample) => {
          const source = pieces.join("");
          const refusal = refusalOf(source);
          let native: RegExp | undefined;
          try {
            native = new RegExp(source, "u");
          } catch {
            // Escaped punctuation is the only extension of the standard.
            if (!/\\[-!,:=<> ]/.test(source))
              expect([source, refusal]).toEqual([source, "invalid"]);
            return;
          }
          if (/\(\?<?[=!]|\\k|\\[1-9]/.test(source)) {
            if (refusal !== undefined) expect([source, refusal]).toEqual([source, "invalid"]);
            return;
          }
          compared += 1;
          expect([source, refusal]).toEqual([source, undefined]);
          if (source.includes("\\B") && /[\ud83d]/.test(sample)) return;
          expect([source, compileMetered(source).test(sample)]).toEqual([
            source,
            native.test(sample),
          ]);
        },
      ),
      { numRuns: 20_000 },
    );
    expect(compared).toBeGreaterThan(1_000);
  });

  it.each([
    ["\\-\\@\\#\\ \\\"\\'", "-@# \"'"],
    ["^\\d+\\-\\d+$", "12-34"],
  ])("reads %s as other dialects do: escaped punctuation is literal", (source, sample) => {
    expect(compileMetered(source).test(sample)).toBe(true);
  });

  it.each([
    ["(a)\\1", /backreferences/],
    ["(?<n>a)\\k<n>", /backreferences/],
    ["a(?=b)", /lookahead.*allOf/],
    ["a(?!b)", /lookahead/],
    ["(?<=a)b", /lookbehind/],
    ["(?<!a)b", /lookbehind/],
    ["((((?=a))))", /lookahead/],
    ["(?i)a", /flags/],
    ["(?i:a)", /flags/],
    ["(?P<n>a)", /\(\?<name>…\)/],
    ["\\Aa\\Z", /write \^/],
    ["\\p{Nope}", /no Unicode property "Nope"/],
    ["\\p{L}\\p{constructor}", /no Unicode property/],
    ["\\u{110000}", /code point/],
    ["[b-a]", /ends before it starts/],
    ["a{3,2}", /ends before it starts/],
    ["(", /isn't closed/],
    [")", /closes no group/],
    ["[a", /isn't closed/],
    ["a**", /nothing to repeat/],
    ["^*", /boundary can't be repeated/],
    ["\\", /no meaning/],
    ["\\q", /no meaning/],
    ["a{,3}", /needs an escape/],
  ])("refuses %s and says why", (source, reason) => {
    expect(refusalOf(source)).toBe("invalid");
    expect(() => compileMetered(source)).toThrow(reason);
  });

  it.each([
    ["too long", "a".repeat(4_097)],
    ["a bound over 1,000", "a{1001}"],
    ["a lower bound over 1,000", "a{1001,}"],
    ["an upper bound over 1,000", "a{0,1001}"],
    ["a bound of 400 digits", `a{1,${"9".repeat(400)}}`],
    ["a lower bound of 400 digits", `a{${"9".repeat(400)}}`],
    ["nested repetition", "(a{1000}){1000}"],
    ["nested optional repetition", "((a{0,1000}){0,1000}){0,1000}"],
    [
      "repetition nested so deep that its size overflows",
      `${"(".repeat(190)}a${"){1000}".repeat(190)}`,
    ],
    ["the same where it may be left out", `(?:${"(".repeat(150)}a${"){1000}".repeat(150)}){0,1}b`],
    ["repetition of nothing", "((){1000}){1000}"],
    ["many groups", `${"(".repeat(201)}${")".repeat(201)}`],
  ])("refuses by a limit: %s", (_, source) => {
    expect(refusalOf(source)).toBe("limit");
  });

  it("goes up to its limits", () => {
    expect(compileMetered("a".repeat(4_096)).test("a".repeat(4_096))).toBe(true);
    expect(compileMetered("^(a{100}){90}$").test("a".repeat(9_000))).toBe(true);
    expect(compileMetered("^a{0,1000}$").test("a".repeat(1_001))).toBe(false);
    expect(compileMetered(`${"(".repeat(200)}a${")".repeat(200)}`).test("a")).toBe(true);
  });

  it.each([
    "^(a+)+$",
    "^(a*)*$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "^(a|a?)+$",
    "^([a-z]+)*!$",
    "(a*)*b",
    "(.*a){12}b",
    "^(?:a?){50}a{50}$b",
    "^((a+)+)+[^a?]$",
    "(x+x+)+y|(a+a+)+b",
    "\\b(\\w+\\s*)+!$",
  ])("does work in proportion to the text for %s", (source) => {
    const short = stepsOf(source, `${"a".repeat(10_000)}?`);
    const long = stepsOf(source, `${"a".repeat(100_000)}?`);
    expect(long.found).toBe(false);
    expect(long.steps).toBeLessThanOrEqual(long.size * 100_002);
    expect(long.steps).toBeLessThan(short.steps * 11);
  });

  it("doesn't start again at each position if the pattern is anchored to the start", () => {
    expect(stepsOf("^b", "a".repeat(1_000)).steps).toBeLessThan(20);
    expect(stepsOf("(?:^a*|^b)$", "a".repeat(1_000)).steps).toBeLessThan(1_000);
  });

  it("ends a search when its step budget is exhausted", () => {
    const pattern = compileMetered("(.*a){12}b");
    let steps = 0;
    const stop = (count: number): void => {
      steps += count;
      if (steps > 50_000) throw new JsonSchemaError("limit", "enough");
    };
    expect(() => pattern.test("a".repeat(1_000_000), stop)).toThrow("enough");
    expect(steps).toBeLessThan(60_000);
    expect(pattern.test(`${"a".repeat(12)}b`)).toBe(true);
  });

  it("charges for each Unicode property that a place tests", () => {
    const letters = Array.from({ length: 1_000 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    const plain = stepsOf("^[一-龥]+$", letters.join(""));
    const costly = stepsOf("^[\\p{Lu}\\p{N}\\p{Ll}\\p{Lo}]+$", letters.join(""));
    expect([plain.found, costly.found]).toEqual([true, true]);
    expect(costly.steps - plain.steps).toBeGreaterThan(10 * 1_000);
  });

  it("finds the same with a memory of earlier searches", () => {
    fc.assert(
      fc.property(tree.node, fc.array(text, { minLength: 4, maxLength: 8 }), (source, texts) => {
        const pattern = compileMetered(source);
        const memory = new PatternMemory();
        for (const each of [...texts, ...texts, texts.join("").repeat(3)]) {
          const remembered = pattern.test(each, undefined, memory);
          expect([source, each, remembered]).toEqual([source, each, pattern.test(each)]);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("costs less for a text that it has seen before, and never less than a share of its length", () => {
    const pattern = compileMetered("^(?:[a-z]+@[a-z]+;)*$");
    const memory = new PatternMemory();
    const texts = ["someone@example;", "someone@example;", "someone@example;"];
    const steps = texts.map((each) => {
      let sum = 0;
      pattern.test(each, (count) => (sum += count), memory);
      return sum;
    });
    expect(steps[2]).toBeLessThan(steps[0]! / 2);
    expect(steps[2]).toBeGreaterThan("someone@example;".length / 2);
  });

  it("has a bounded memory, whatever the patterns and the texts", () => {
    const memory = new PatternMemory();
    const letters = Array.from({ length: 300 }, (_, at) => "ab"[((at * at) % 7) & 1]!).join("");
    for (let index = 0; index < 300; index += 1) {
      const pattern = compileMetered(`^(a|b)*a(a|b){${index % 40}}$`);
      expect(pattern.test(letters, undefined, memory)).toBe(letters.at(-1 - (index % 40)) === "a");
    }
    expect(memory.isFull).toBe(true);
  });
});

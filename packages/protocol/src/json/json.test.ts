import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WaybillError } from "../error.ts";
import { readJson } from "./json-reader.ts";
import { parseJson, stringifyJson } from "./json.ts";
import type { Json } from "./json.ts";
import { LIMITS } from "../limits.ts";

/** Allows for many cases on a busy machine. */
const PATIENT = { timeout: 60_000 };

function refusal(run: () => unknown): WaybillError {
  try {
    run();
  } catch (error) {
    if (WaybillError.is(error)) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** The outcome: a value, or the status of the refusal. */
function outcome(run: () => unknown): { value: unknown } | { status: number } {
  try {
    return { value: run() };
  } catch (error) {
    if (WaybillError.is(error)) return { status: error.status };
    throw error;
  }
}

/** The rules for JSON, stated again as plainly as possible. */
function isAllowed(value: Json): boolean {
  if (typeof value === "string") return !/\p{Surrogate}|\0/u.test(value);
  if (typeof value === "number")
    return !/^-?\d+$/.test(String(value)) || Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isAllowed);
  return Object.entries(value).every(
    ([name, member]) =>
      !["__proto__", "constructor", "prototype"].includes(name) &&
      isAllowed(name) &&
      isAllowed(member),
  );
}

/** Any JSON value but -0, which `JSON.stringify` writes as 0. */
function jsonValue(constraints: fc.JsonSharedConstraints = {}): fc.Arbitrary<Json> {
  const hasMinusZero = (value: unknown): boolean =>
    Object.is(value, -0) ||
    (typeof value === "object" && value !== null && Object.values(value).some(hasMinusZero));
  return fc.jsonValue(constraints).filter((value) => !hasMinusZero(value)) as fc.Arbitrary<Json>;
}

describe("parseJson", () => {
  test.each([
    ["null", null],
    [" \t\r\n[ ] ", []],
    ['{"a":{"b":[1,-0.5e-3,true,false,null,"x:{}[]\\"\\\\"]}}', undefined],
    ["9007199254740991", 9007199254740991],
    ["-9007199254740991", -9007199254740991],
    ["6.02214076e23", 6.02214076e23],
    ["[1e300, 9007199254740993.0]", undefined],
    ['"\\ud83d\\ude00"', "😀"],
    ['{"":{"":1}}', undefined],
    ['{"constructo":1,"Prototype":2,"proto":3,"toString":4,"hasOwnProperty":5}', undefined],
    ['[{"a":1},{"a":2}]', undefined],
    ['{"a":"\\"a\\":1, \\\\","b":"\\\\\\\\"}', undefined],
  ])("reads %s as JSON.parse does", (text, expected) => {
    expect(parseJson(text)).toStrictEqual(expected === undefined ? JSON.parse(text) : expected);
  });

  test("reads back every value that is allowed, and refuses every other", PATIENT, () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.oneof(jsonValue(), jsonValue({ stringUnit: "binary" })), (value) => {
        const expected = isAllowed(value) ? { value } : { status: 400 };
        if (!isAllowed(value)) refused++;
        expect(outcome(() => parseJson(JSON.stringify(value)))).toEqual(expected);
        expect(outcome(() => parseJson(JSON.stringify(value, undefined, 2)))).toEqual(expected);
      }),
      { numRuns: 3000, examples: [[{ a: "\0" }], [[1e20]], [["\ud800"]]] },
    );
    expect(refused).toBeGreaterThan(2);
  });

  test.each([
    ['{"a":1,"a":1}', "/a"],
    ['{"a":1,"b":2,"\\u0061":3}', "/a"],
    ['{"x":[0,{"k":1,"l":{},"k":{}}]}', "/x/1/k"],
    ['{"a/b~":{"":1,"":2}}', "/a~1b~0/"],
    ['{"a":{"a":1},"a":{"a":1}}', "/a"],
    ['{"1":1,"1":2}', "/1"],
    ['{"toString":1,"toString":2}', "/toString"],
    ['{"é":1,"\\u00e9":2}', "/é"],
  ])("refuses the duplicate member in %s (HARDENING 21)", (text, at) => {
    const error = refusal(() => parseJson(text));
    expect(error).toMatchObject({ status: 400, at });
    expect(error.message).toContain("twice");
  });

  test("refuses a member that is repeated anywhere, in any spelling (HARDENING 21)", () => {
    const tree = fc.letrec<{ node: Json; members: Json }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.integer(),
        fc.string(),
        tie("members"),
        fc.array(tie("node"), { maxLength: 3 }),
      ),
      members: fc.dictionary(fc.stringMatching(/^[a-z"\\:{}é]{1,4}$/), tie("node"), {
        minKeys: 1,
        maxKeys: 4,
      }),
    })).members;
    fc.assert(
      fc.property(tree, fc.nat(), fc.boolean(), (value, pick, isEscaped) => {
        const objects: { [name: string]: Json }[] = [];
        const collect = (node: Json): void => {
          if (typeof node !== "object" || node === null) return;
          if (!Array.isArray(node) && Object.keys(node).length > 0) objects.push(node);
          Object.values(node).forEach(collect);
        };
        collect(value);
        const chosen = objects[pick % objects.length]!;
        const name = Object.keys(chosen)[pick % Object.keys(chosen).length]!;
        const units = [...name].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
        const again = isEscaped ? `"${units.join("")}"` : JSON.stringify(name);
        chosen["marker"] = "MARKER";
        const once = JSON.stringify(value);
        const twice = once.replace('"marker":"MARKER"', () => `${again}:"MARKER"`);
        delete chosen["marker"];
        expect(parseJson(JSON.stringify(value))).toEqual(value);
        expect(refusal(() => parseJson(twice)).message).toContain("twice");
      }),
      { numRuns: 500 },
    );
  });

  test.each(["__proto__", "constructor", "prototype"])(
    "refuses the name %s anywhere (HARDENING 22)",
    (name) => {
      const escaped = name.replace(/[_co]/, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
      for (const spelled of [name, escaped]) {
        for (const inside of [
          `{"${spelled}":1}`,
          `{"${spelled}":{"a":null}}`,
          `{"a":1,"${spelled}":[]}`,
        ]) {
          expect(refusal(() => parseJson(inside))).toMatchObject({ status: 400, at: `/${name}` });
          expect(refusal(() => parseJson(`{"x":[[${inside}]]}`)).at).toBe(`/x/0/0/${name}`);
        }
      }
      expect(parseJson(`["${name}"]`)).toEqual([name]);
      expect(Object.prototype).not.toHaveProperty("a");
    },
  );

  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
    ["both", '[{"a":', "}]"],
  ])("answers a depth of 10^6 with 413: %s (HARDENING 23)", (_, open, close) => {
    const wide = { envelopeBytes: 2 ** 26 };
    for (const text of [
      open.repeat(1e6),
      open.repeat(1e6) + close.repeat(1e6),
      `[[],${open.repeat(1e6)}`,
    ]) {
      expect(refusal(() => parseJson(text, wide))).toMatchObject({ status: 413 });
      expect(refusal(() => parseJson(text, { ...wide, jsonDepth: 1e7 }))).toMatchObject({
        status: 413,
      });
    }
  });

  test("allows exactly the depth of the limit, and ignores brackets in strings", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(parseJson(nested(LIMITS.jsonDepth))).toEqual(JSON.parse(nested(LIMITS.jsonDepth)));
    expect(refusal(() => parseJson(nested(LIMITS.jsonDepth + 1))).status).toBe(413);
    expect(parseJson(nested(3), { jsonDepth: 3 })).toEqual([[[]]]);
    expect(refusal(() => parseJson(nested(4), { jsonDepth: 3 })).status).toBe(413);
    const text = JSON.stringify([`${"[".repeat(99)}\\"${"{".repeat(99)}`, "\\\\", ["x"]]);
    expect(parseJson(text, { jsonDepth: 2 })).toEqual(JSON.parse(text));
    expect(parseJson(`[${"[],".repeat(5000)}[]]`)).toHaveLength(5001);
  });

  test("answers a text over the limit with 413 (HARDENING 24)", () => {
    const text = JSON.stringify("x".repeat(98));
    expect(parseJson(text, { envelopeBytes: 100 })).toHaveLength(98);
    expect(refusal(() => parseJson(text, { envelopeBytes: 99 })).status).toBe(413);
    expect(refusal(() => parseJson(`"${"x".repeat(LIMITS.envelopeBytes)}"`)).status).toBe(413);
  });

  test.each([
    "9007199254740992",
    "-9007199254740992",
    "9007199254740993",
    "123456789012345678901234567890",
    "1" + "0".repeat(400),
    "1e400",
    "-1e400",
    "1E+309",
    "0.1e401",
    "9".repeat(400) + ".5",
    "1.0000000000000001",
    "9007199254740993.5",
    "1e-400",
  ])("refuses the number %s, at its place (HARDENING 25)", (literal) => {
    expect(refusal(() => parseJson(literal))).toMatchObject({ status: 400, at: "" });
    expect(refusal(() => parseJson(`{"a":[0, ${literal} ]}`)).at).toBe("/a/1");
    expect(refusal(() => parseJson(`{"a":1e300,"b":{"c":${literal}}}`)).at).toBe("/b/c");
  });

  test.each([
    ["a lone high surrogate, escaped", '"\\ud800"'],
    ["a lone low surrogate, escaped", '"\\udc00x"'],
    ["a pair the wrong way round", '"\\ude00\\ud83d"'],
    ["half escaped, half raw", '"\\ud83d\ude00"'],
    ["a raw lone surrogate", '"\ud800"'],
    ["an escaped NUL", '"a\\u0000"'],
    ["a raw NUL", '"a\0"'],
  ])("refuses %s, in values and in names (HARDENING 25)", (_, literal) => {
    expect(refusal(() => parseJson(literal)).status).toBe(400);
    expect(refusal(() => parseJson(`{"a":[1,${literal}]}`)).status).toBe(400);
    expect(refusal(() => parseJson(`{"a":{${literal}:1}}`)).status).toBe(400);
  });

  test("reads an escaped name correctly, whatever names the engine read before", () => {
    const names = ['"', "\n", "é", '\\"', 'a"', "ab\t", "\\"];
    for (const first of ["[]", "1", "{}"]) {
      for (const poison of ["\\", "\\u", "\\\\", "a\\", "ab\\", "\\u0"]) {
        parseJson(`{"h":${first},${JSON.stringify(poison)}:0}`);
        JSON.parse(`{"h":${first},${JSON.stringify(poison)}:0}`);
        for (const name of names) {
          const escaped = name === "é" ? '"\\u00e9"' : JSON.stringify(name);
          const value = parseJson(`{"h":${first},${escaped}:[2],"x":"\\n"}`) as object;
          expect(Object.keys(value)).toEqual(["h", name, "x"]);
        }
      }
    }
    expect(parseJson('{"a\\nb":{"c":"\\\\","\\"":[1,"x",true,null,1e300]}}')).toEqual({
      "a\nb": { c: "\\", '"': [1, "x", true, null, 1e300] },
    });
  });

  test("does not take an escaped backslash before a u for a Unicode escape", () => {
    expect(parseJson('{"a":"\\\\u0000","b":"\\\\ud800","c":"\\u0061"}')).toEqual({
      a: "\\u0000",
      b: "\\ud800",
      c: "a",
    });
  });

  test.each([
    "",
    " ",
    "\ufeff{}",
    "{}\ufeff",
    "{} {}",
    "{}x",
    "[1,]",
    "[,1]",
    '{"a":1,}',
    "{,}",
    '{"a"}',
    '{"a":}',
    "{a:1}",
    "{'a':1}",
    "[1 2]",
    "[1",
    '{"a":1',
    "]",
    "[}",
    '{"a":1]',
    '"',
    '"\\"',
    '"\\x"',
    '"\\u12g4"',
    '"a\nb"',
    '"\u0001"',
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "+1",
    "0x10",
    "NaN",
    "Infinity",
    "undefined",
    "True",
    "nul",
    "// a\n1",
    "\u00a01",
    "\u20281",
  ])("refuses %j with a specific reason", (text) => {
    const error = refusal(() => parseJson(text));
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/^The JSON is refused: .*(character \d+|it ends before)/);
    expect(error.cause).toBeInstanceOf(SyntaxError);
  });

  test("names the place of a nested fault", () => {
    expect(refusal(() => parseJson('{"a":[1,{"b":x}]}'))).toMatchObject({
      at: "/a/1/b",
      message: 'The JSON is refused: character 13 is "x", not a value.',
    });
  });

  test("refuses anything but a string", () => {
    for (const value of [undefined, null, 1, {}, new Uint8Array(2)]) {
      expect(refusal(() => parseJson(value as string)).status).toBe(400);
    }
  });

  test("the fast and the slow check agree on 20,000 mutated texts", PATIENT, () => {
    const seeds = [
      '{"waybill":1,"kind":"handoff","body":{"input":{"n":[1,2.5e3,-7,{"q":"\\u00e9\\n"}]},"x":null}}',
      '{"a":{"a":1,"b":[true,false]},"b":"\\\\\\"{[:","c":9007199254740991,"d":[[],{}]}',
    ];
    const pieces = [
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "0",
      "9",
      "e",
      "-",
      ".",
      "u0000",
      "\\ud800",
      '"a":1,',
      " ",
    ];
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(), fc.nat(4), fc.constantFrom(...pieces)), {
          minLength: 1,
          maxLength: 3,
        }),
        (seed, edits) => {
          let text = seed;
          for (const [where, removed, piece] of edits) {
            const start = where % (text.length + 1);
            text = text.slice(0, start) + piece + text.slice(start + removed);
          }
          const slow = outcome(() => readJson(text));
          const engine = outcome(() => {
            try {
              return JSON.parse(text) as unknown;
            } catch (cause) {
              throw WaybillError.from(cause, 400);
            }
          });
          if ("value" in slow) accepted++;
          expect(outcome(() => parseJson(text))).toStrictEqual(slow);
          // The engine accepts more, and may be wrong about a name with an escape: that has a test of
          // its own.
          const isComparable = "value" in slow && !/\\[^:]*":/.test(text);
          expect("value" in engine || !("value" in slow)).toBe(true);
          expect(isComparable ? engine : slow).toStrictEqual(slow);
        },
      ),
      { numRuns: 20_000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });
});

describe("stringifyJson", () => {
  test("writes what JSON.stringify writes, or refuses what parseJson would refuse", PATIENT, () => {
    fc.assert(
      fc.property(jsonValue({ stringUnit: "binary" }), (value) => {
        const expected = isAllowed(value) ? { value: JSON.stringify(value) } : { status: 400 };
        expect(outcome(() => stringifyJson(value))).toEqual(expected);
        expect(outcome(() => parseJson(stringifyJson(value)))).toEqual(
          isAllowed(value) ? { value } : expected,
        );
      }),
      { numRuns: 3000 },
    );
  });

  test("omits undefined members and honours toJSON", () => {
    class Point {
      x = 1;
      #secret = 2;
      get sum(): number {
        return this.x + this.#secret;
      }
    }
    const date = new Date(0);
    expect(stringifyJson({ a: undefined, b: { c: undefined }, d: 1 })).toBe('{"b":{},"d":1}');
    expect(stringifyJson({ at: date, gone: undefined, list: [date], point: new Point() })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","list":["1970-01-01T00:00:00.000Z"],"point":{"x":1}}',
    );
    expect(stringifyJson({ a: { toJSON: () => ({ b: [1] }) } })).toBe('{"a":{"b":[1]}}');
    expect(stringifyJson(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('{"a":1}');
    expect(stringifyJson({ a: "\u001b[1m \\u0000" })).toBe('{"a":"\\u001b[1m \\\\u0000"}');
  });

  const cyclic: Record<string, unknown> = { a: 1 };
  cyclic["self"] = [cyclic];
  test.each<[string, unknown, string]>([
    ["undefined", undefined, ""],
    ["a function", { a: () => 1 }, "/a"],
    ["a symbol", { a: [Symbol("x")] }, "/a/0"],
    ["a BigInt", { a: { b: 1n } }, "/a/b"],
    ["NaN", { a: [0, NaN] }, "/a/1"],
    ["Infinity", { a: -Infinity }, "/a"],
    ["undefined in an array", { a: [1, undefined] }, "/a/1"],
    ["a hole in an array", { a: Array(2) }, "/a/0"],
    ["an unsafe integer", { a: 2 ** 53 }, "/a"],
    ["a large integer", { a: -1e20 }, "/a"],
    ["a cycle", cyclic, "/self/0"],
    ["__proto__", { a: JSON.parse('{"__proto__":1}') as unknown }, "/a/__proto__"],
    ["constructor", { constructor: 1 }, "/constructor"],
    ["prototype behind toJSON", { a: { toJSON: () => ({ prototype: 1 }) } }, "/a/prototype"],
    ["a lone surrogate", { a: "\ud800" }, "/a"],
    ["a lone surrogate in a name", { "\udc00": 1 }, "/\udc00"],
    ["NUL", { a: ["\0"] }, "/a/0"],
    ["NUL in a name", { "\0": 1 }, "/\0"],
    ["a Map", { a: new Map([[1, 2]]) }, "/a"],
    ["a Set", [new Set([1])], "/0"],
    ["an Error", { error: new Error("x") }, "/error"],
    ["bytes", { a: new Uint8Array(2) }, "/a"],
    ["a promise", { a: Promise.resolve(1) }, "/a"],
    ["a boxed string", { a: new String("x") }, "/a"],
  ])("refuses %s and says where", (_, value, at) => {
    expect(refusal(() => stringifyJson(value))).toMatchObject({ status: 400, at });
  });

  test("allows one object in two places, and refuses it when it expands to too much", () => {
    const shared = { n: 1 };
    expect(stringifyJson([shared, { shared }])).toBe('[{"n":1},{"shared":{"n":1}}]');
    let bomb: unknown = 1;
    for (let i = 0; i < 40; i++) bomb = [bomb, bomb];
    expect(refusal(() => stringifyJson(bomb, { envelopeBytes: 10_000 })).status).toBe(413);
  });

  test("enforces depth and size", () => {
    let deep: unknown = 1;
    for (let i = 0; i < LIMITS.jsonDepth; i++) deep = { a: deep };
    expect(parseJson(stringifyJson(deep))).toEqual(deep);
    expect(refusal(() => stringifyJson([deep])).status).toBe(413);
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(refusal(() => stringifyJson(deep)).status).toBe(413);
    expect(refusal(() => stringifyJson(deep, { jsonDepth: 1e9 })).status).toBe(413);
    expect(refusal(() => stringifyJson("x".repeat(100), { envelopeBytes: 101 })).status).toBe(413);
  });
});

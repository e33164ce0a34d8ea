import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { many } from "./text.ts";
import type { Text } from "./text.ts";

function fine(
  rules: readonly number[],
  title: string,
  text: Text,
  ...value: readonly unknown[]
): Row {
  const expect = { status: "ok", ...(value.length > 0 && { value: value[0] }) };
  return { rules, title, input: { text }, expect };
}

function refused(rules: readonly number[], title: string, text: Text, status: number = 400): Row {
  return { rules, title, input: { text }, expect: { status } };
}

const joined = (...concat: readonly Text[]): Text => ({ concat });

const VALUES: readonly Row[] = [
  fine([11], "null", "null", null),
  fine([11], "white space around and inside", ' \t\r\n[ 1 , { "a" : [ ] } ] \n', [1, { a: [] }]),
  fine([11], "every escape that there is", '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"', '"\\/\b\f\n\r\té'),
  fine(
    [11],
    "characters beyond the basic plane, plain and as two escapes",
    '["🌊","\\ud83c\\udf0a"]',
    ["🌊", "🌊"],
  ),
  fine(
    [11],
    "the last code points of each plane side by side",
    '"\uffff\u{10ffff}"',
    "\uffff\u{10ffff}",
  ),
  fine([11], "line separators, which JavaScript once refused", '"\u2028\u2029"', "\u2028\u2029"),
  fine([7], "the same name in two objects", '[{"a":1},{"a":{"a":2}}]', [{ a: 1 }, { a: { a: 2 } }]),
  fine(
    [7],
    "names that differ by case and by normal form",
    '{"a":1,"A":2,"\u00e9":3,"e\u0301":4}',
    { a: 1, A: 2, "\u00e9": 3, "e\u0301": 4 },
  ),
  fine([7], "a name that is empty", '{"":{"":1}}', { "": { "": 1 } }),
  fine([8], "forbidden names as values", '["__proto__","constructor","prototype"]', [
    "__proto__",
    "constructor",
    "prototype",
  ]),
  fine(
    [8],
    "names that only resemble the forbidden ones",
    '{"_proto_":1,"Constructor":2,"proto":3,"toString":4,"__PROTO__":5}',
    { _proto_: 1, Constructor: 2, proto: 3, toString: 4, __PROTO__: 5 },
  ),
  fine(
    [10],
    "the largest integers",
    "[9007199254740991,-9007199254740991]",
    [9007199254740991, -9007199254740991],
  ),
  fine(
    [10],
    "whole numbers with a point or an exponent",
    "[1.0,-1.000,1e3,1.5E1,120e-1,0.0,0e-400,0.00e+5]",
    [1, -1, 1000, 15, 12, 0, 0, 0],
  ),
  fine([10], "a whole number beyond the largest integer, with a point", "9007199254740993.0"),
  fine(
    [10],
    "numbers that are close to whole ones, and not one to a double",
    "[1.0000000000000002,0.9999999999999999,5e-324,4503599627370495.5]",
  ),
  fine(
    [10],
    "an exponent beyond the largest integer",
    "[1e300,-1E+300,6.02214076e23]",
    [1e300, -1e300, 6.02214076e23],
  ),
  fine([10], "the largest double", "1.7976931348623157e308", 1.7976931348623157e308),
  fine([10], "a negative zero", "[-0,0]"),
  fine([10], "integers in strings", '"9007199254740993"', "9007199254740993"),
  fine([9], "64 levels of arrays", `${"[".repeat(64)}${"]".repeat(64)}`),
  fine([9], "64 levels of objects", `${'{"a":'.repeat(63)}{}${"}".repeat(63)}`),
  fine([9], "brackets inside a string", `"${"[{".repeat(100)}"`),
  fine([9], "a quotation mark and brackets inside a string", joined('"\\"', many("[", 1000), '"')),
  fine([9], "a hundred thousand arrays side by side", joined("[", many("[],", 100_000), "[]]")),
];

const GRAMMAR: readonly (readonly [title: string, text: string])[] = [
  ["nothing", ""],
  ["white space alone", " \n"],
  ["two values", "1 2"],
  ["something behind the end", "{}x"],
  ["a comma at the end of an array", "[1,]"],
  ["a comma at the end of an object", '{"a":1,}'],
  ["a comma in front", "[,1]"],
  ["no colon", '{"a" 1}'],
  ["a name without quotation marks", "{a:1}"],
  ["single quotation marks", "{'a':1}"],
  ["a bracket that is not closed", "[1"],
  ["a bracket that nobody opened", "]"],
  ["brackets that cross", "[{]}"],
  ["a string without an end", '"abc'],
  ["a string that ends with its escape", '"\\"'],
  ["an escape that there is not", '"\\x41"'],
  ["a Unicode escape of three digits", '"\\u00e"'],
  ["a line feed inside a string", '"a\nb"'],
  ["a tab inside a string", '"a\tb"'],
  ["a comment", "/* */1"],
  ["NaN", "NaN"],
  ["Infinity", "-Infinity"],
  ["a word in upper case", "TRUE"],
  ["undefined", "undefined"],
  ["a zero in front", "01"],
  ["a plus in front", "+1"],
  ["a dot in front", ".5"],
  ["a dot at the end", "1."],
  ["an exponent without digits", "1e"],
  ["a hexadecimal number", "0x10"],
  ["a number with a line", "1_000"],
  ["a form feed as white space", "\f1"],
  ["a no-break space as white space", "\u00a01"],
];

const REFUSED: readonly Row[] = [
  refused([7], "a name twice", '{"a":1,"a":1}'),
  refused([7], "a name twice, once with an escape", '{"a":1,"b":2,"\\u0061":3}'),
  refused([7], "a name twice, deep inside", '{"x":[0,{"k":1,"l":{},"k":{}}]}'),
  refused([7], "a name twice that looks like an index", '{"1":1,"1":2}'),
  refused([7], "an empty name twice", '{"":1,"":2}'),
  refused([7], "a name twice with an escaped quotation mark", '{"\\"":1,"\\u0022":2}'),
  refused(
    [7],
    "a name twice, in two spellings of a character beyond the basic plane",
    '{"🌊":1,"\\ud83c\\udf0a":2}',
  ),
  refused(
    [7],
    "the first of a thousand names again",
    `{${Array.from({ length: 1000 }, (_, n) => `"n${n}":0`).join(",")},"n0":0}`,
  ),
  refused([8], "__proto__ at the top", '{"__proto__":{"admin":true}}'),
  refused([8], "__proto__ deep inside", '[[{"a":{"__proto__":1}}]]'),
  refused([8], "__proto__ with escapes", '{"\\u005f\\u005fproto\\u005f\\u005f":1}'),
  refused([8], "constructor", '{"constructor":1}'),
  refused([8], "constructor with an escape", '{"c\\u006fnstructor":1}'),
  refused([8], "prototype", '{"a":[{"prototype":null}]}'),
  refused([9, 75], "65 levels of arrays", `${"[".repeat(65)}${"]".repeat(65)}`, 413),
  refused(
    [9, 75],
    "65 levels of objects and arrays",
    `${'{"a":['.repeat(32)}{}${"]}".repeat(32)}`.replace("{}", "[]"),
    413,
  ),
  refused([9, 75], "a million levels", many("[", 1_000_000), 413),
  refused([9, 75], "two hundred thousand levels of objects", many('{"":', 200_000), 413),
  refused([10], "2^53", "9007199254740992"),
  refused([10], "-2^53", "-9007199254740992"),
  refused([10], "an integer of twenty digits, inside", '{"a":[12345678901234567890]}'),
  refused([10], "an integer of a thousand digits", joined("1", many("0", 999))),
  refused([10], "a version 1 that is more than 1", "1.0000000000000001"),
  refused([10], "a number that is less than 1 by too little", '{"a":[0.99999999999999999]}'),
  refused([10], "the same with an exponent", "[10000000000000001E-16]"),
  refused([10], "a number too small for a double", "1e-400"),
  refused([10], "the negative of one", '{"a":-1e-400}'),
  refused([10], "a number too small, with an exponent of twenty digits", "1e-99999999999999999999"),
  refused([10], "a fraction beyond the largest integer", "9007199254740993.5"),
  refused([10], "a fraction of a thousand digits", joined("1.", many("0", 998), "1")),
  refused([10], "1e400", "1e400"),
  refused([10], "-1e400", "[-1e400]"),
  refused([10], "a fraction that is too large", joined("17976931348623159", many("0", 293), ".5")),
  refused([11], "half a surrogate pair in a string", '"\\ud800"'),
  refused([11], "the second half alone", '"\\udc00"'),
  refused([11], "the two halves in the wrong order", '"\\udf0a\\ud83c"'),
  refused([11], "a half and a letter", '["\\ud83cx"]'),
  refused([11], "half a surrogate pair in a name", '{"\\udbff":1}'),
  refused([11], "a NUL in a string", '"a\\u0000"'),
  refused([11], "a NUL in a name", '{"\\u0000":1}'),
  refused([11], "a NUL as it is", '"\0"'),
  refused([11], "a byte order mark in front", "\ufeff{}"),
  ...GRAMMAR.map(([title, text]) => refused([75], `no JSON: ${title}`, text)),
];

export const JSON_TEXTS: VectorFile = vectorFile(
  "json",
  "json",
  "JSON texts as a reader finds them in a payload.",
  [...VALUES, ...REFUSED],
);

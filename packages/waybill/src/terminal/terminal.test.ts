import { describe, expect, test } from "vitest";
import { columns } from "./columns.ts";
import { durationText, parseDuration } from "./duration.ts";
import { isColored, styleFor } from "./style.ts";
import { counted, padded, printable, printableLines, widthOf } from "./text.ts";
import { commandWrapped, wrapped } from "./wrap.ts";

test.each([
  ["\u001b]0;owned\u0007title", "]0;owned title"],
  ["red \u001b[31mtext", "red [31mtext"],
  ["two\nlines\r\nand\tmore", "two lines and more"],
  ["\u202efdp.exe", "fdp.exe"],
  ["zero\u200bwidth\ud800", "zero width"],
  ["Frachtbrief 🧾 提单", "Frachtbrief 🧾 提单"],
])("foreign text %j is harmless", (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test("lines stay lines, and shortened text ends with an ellipsis", () => {
  expect(printableLines("a\u001bb\nc")).toBe("a b\nc");
  expect(printable("x".repeat(500))).toHaveLength(400);
  expect(printable("x".repeat(500)).endsWith("…")).toBe(true);
});

test("columns line up, whatever they contain, and the last one is wrapped", () => {
  const style = styleFor(true);
  expect(widthOf(style.bad("提单"))).toBe(4);
  expect(widthOf(padded(style.good("✔ ok"), 8))).toBe(8);
  const rows = [
    ["提单", "x"],
    ["long name", "several words that are too many for one line"],
  ];
  const told = columns(["A", "B"], rows, (each) => each, 40);
  expect(told.split("\n")).toEqual([
    "A          B",
    "提单       x",
    "long name  several words that are too",
    "           many for one line",
  ]);
  expect(columns(["A", "B"], rows, (each) => each, 30)).toBe(
    "提单\n  b  x\n\nlong name\n  b  several words that are\n     too many for one line",
  );
});

test.each([
  ["✔ a word and the next one that goes on", 30, "✔ a word and the next one that\n  goes on"],
  [
    "name    text that is told beside its name",
    34,
    "name    text that is told beside\n        its name",
  ],
  [`see /${"x".repeat(40)} there`, 30, `see\n/${"x".repeat(40)}\nthere`],
  ["two  columns\nshort", 80, "two  columns\nshort"],
])("%j in %d columns", (text, width, expected) => {
  expect(wrapped(text, width)).toBe(expected);
});

test("a command line is wrapped so that a shell accepts it unchanged", () => {
  const line = `waybill send review @draft.json --to anna --answer 'ok=yes no' --json`;
  expect(commandWrapped(line, 40, 2)).toBe(
    "  waybill send review @draft.json \\\n    --to anna --answer 'ok=yes no' \\\n    --json",
  );
});

describe("colours", () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "" }, true],
    [false, { FORCE_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
    [true, { TERM: "dumb" }, false],
  ])("on a terminal: %s, with %j: %s", (isTerminal, environment, expected) => {
    expect(isColored(isTerminal, environment)).toBe(expected);
  });
});

test.each([
  [0, "0 ms"],
  [940, "940 ms"],
  [1000, "1 s"],
  [4130, "4.13 s"],
  [59_940, "59.9 s"],
  [200_000, "3 min 20 s"],
  [7_500_000, "2 h 5 min"],
  [90_000_000, "1 d 1 h"],
])("%d is %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test("a duration is a number and a unit", () => {
  expect(parseDuration("500ms", "timeout")).toBe(500);
  expect(parseDuration("1.5h", "timeout")).toBe(5_400_000);
  for (const text of ["5", "5 m", "-1s", "0s", "1e3s", "soon"]) {
    expect(() => parseDuration(text, "timeout")).toThrow("--timeout must be a time such as");
  }
});

test("nouns are singular or plural", () => {
  expect([counted(1, "handoff"), counted(2000, "handoff")]).toEqual([
    "1 handoff",
    "2,000 handoffs",
  ]);
});

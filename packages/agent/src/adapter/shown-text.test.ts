import { expect, test } from "vitest";
import { ShownText } from "./shown-text.ts";

function shownOf(...pieces: readonly (string | [attempt: number, text: string])[]) {
  const shown = new ShownText();
  const all = pieces.map((piece) => {
    const [attempt, text] = typeof piece === "string" ? [1, piece] : piece;
    return shown.add({ attempt, text });
  });
  return { all: all.join(""), restOf: (text: string) => shown.restOf(text) };
}

test.for<[string, string[], string, string]>([
  ["nothing was shown", [], "It rains.", "It rains."],
  ["all was shown", ["It ", "rains."], "It rains.", ""],
  ["the end is missing", ["It "], "It rains.", "rains."],
  ["other words came first", ["I look.", "It rains."], "It rains.", ""],
  ["turns are joined by a line feed", ["I look.", "It rains."], "I look.\nIt rains.", ""],
  ["JSON is written more loosely", ['{ "town": "Bergen" }'], '{"town":"Bergen"}', ""],
  ["JSON is cut", ['{ "town": '], '{"town":"Bergen"}', '"Bergen"}'],
  ["something else was shown", ["I look."], "It rains.", "\nIt rains."],
  ["a piece in the middle was lost", ["It ", "ns."], "It rains.", "\nIt rains."],
])("what is left of a result where %s", ([, pieces, text, rest]) => {
  expect(shownOf(...pieces).restOf(text)).toBe(rest);
});

test("another attempt begins again, on a new line", () => {
  const { all, restOf } = shownOf([1, "It ra"], [2, "It "], [2, "rains"]);
  expect(all).toBe("It ra\nIt rains");
  expect(restOf("It rains.")).toBe(".");
});

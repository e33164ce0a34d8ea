import { expect, test } from "vitest";
import { Writing } from "./writing.ts";

function written(...texts: readonly string[]): Writing {
  const writing = new Writing();
  texts.forEach((text, number) => writing.add({ by: "anna", attempt: 1, number, text }));
  return writing;
}

test("streamed text is shown in one line, with the newest words last", () => {
  expect(new Writing().line(40)).toBeUndefined();
  expect(written("The harbour", " is\nopen.").line(40)).toBe("anna: The harbour is open.");
  expect(written("The harbour is open, and ", "the ferry leaves.").line(24)).toBe(
    "anna: …the ferry leaves.",
  );
});

test("another attempt starts with an empty text", () => {
  const writing = written("The harb");
  writing.add({ by: "bert", attempt: 2, number: 0, text: "The port" });
  expect(writing.line(40)).toBe("bert: The port");
});

test("foreign text can't leave the line, and wide characters are counted as they are shown", () => {
  expect(written("\u001b[2J\r\nopen").line(40)).toBe("anna: [2J open");
  expect(written("港口開放").line(12)).toBe("anna: …開放");
});

import { expect, test } from "vitest";
import { textMessage } from "./message.ts";
import { inputOf } from "./structured.ts";

const QUERY = {
  type: "object",
  properties: { query: { type: "string" }, depth: { type: "integer" } },
  required: ["query"],
};
const messages = [textMessage("user", "rain"), textMessage("assistant", "Where?")];

test("input that matches the schema is used as it is", () => {
  expect(inputOf({ input: { query: "x" }, messages }, QUERY)).toEqual({ query: "x" });
  expect(() => inputOf({ input: { depth: 1 } }, QUERY)).toThrow(
    expect.objectContaining({ status: 422, message: expect.stringContaining("query") }),
  );
});

test.for([
  ["a conversation if the schema asks for messages", { messages }, { messages }],
  ["a text if the schema takes text", { messages }, "rain"],
  ["the only text of an object", { messages }, { query: "rain" }],
  [
    "JSON in words",
    { brief: { instruction: '{"query":"x","depth":2}' } },
    { query: "x", depth: 2 },
  ],
] as const)("words are converted to %s", ([, work, expected]) => {
  const schema =
    typeof expected === "string"
      ? { type: "string" }
      : "messages" in expected
        ? { type: "object", properties: { messages: { type: "array" } }, required: ["messages"] }
        : QUERY;
  expect(inputOf(work as never, schema)).toEqual(expected);
});

test("words that can't be converted to match the schema are a 422 that says so", () => {
  const two = { ...QUERY, required: ["query", "depth"] };
  expect(() => inputOf({ messages }, two)).toThrow(expect.objectContaining({ status: 422 }));
  expect(() => inputOf({}, QUERY)).toThrow(/nothing that can serve as the input/);
});

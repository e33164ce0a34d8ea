import { expect, test } from "vitest";
import { textMessage } from "./message.ts";
import { inputOf } from "./structured.ts";

const QUERY = {
  type: "object",
  properties: { query: { type: "string" }, depth: { type: "integer" } },
  required: ["query"],
};
const messages = [textMessage("user", "rain"), textMessage("assistant", "Where?")];

test("input is itself, if it fits", () => {
  expect(inputOf({ input: { query: "x" }, messages }, QUERY)).toEqual({ query: "x" });
  expect(() => inputOf({ input: { depth: 1 } }, QUERY)).toThrow(
    expect.objectContaining({ status: 422, message: expect.stringContaining("query") }),
  );
});

test.for([
  ["a conversation for who asks for messages", { messages }, { messages }],
  ["a text for who takes texts", { messages }, "rain"],
  ["the one text that an object asks for", { messages }, { query: "rain" }],
  [
    "JSON in words",
    { brief: { instruction: '{"query":"x","depth":2}' } },
    { query: "x", depth: 2 },
  ],
] as const)("words are taken for %s", ([, work, expected]) => {
  const schema =
    typeof expected === "string"
      ? { type: "string" }
      : "messages" in expected
        ? { type: "object", properties: { messages: { type: "array" } }, required: ["messages"] }
        : QUERY;
  expect(inputOf(work as never, schema)).toEqual(expected);
});

test("words that can't be what the schema asks for are a 422 that says so", () => {
  const two = { ...QUERY, required: ["query", "depth"] };
  expect(() => inputOf({ messages }, two)).toThrow(expect.objectContaining({ status: 422 }));
  expect(() => inputOf({}, QUERY)).toThrow(/nothing that could be the input/);
});

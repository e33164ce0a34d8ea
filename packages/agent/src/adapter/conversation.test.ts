import type { Message } from "@waybill/protocol";
import { expect, test } from "vitest";
import { briefOf, conversationOf, repliesOf, wordsOfResult } from "./conversation.ts";
import { textMessage, toolCallPart, toolResultPart } from "./message.ts";

const HISTORY: Message[] = [
  textMessage("user", "Where does it rain?", "anna"),
  {
    role: "assistant",
    content: [toolCallPart({ id: "c1", name: "weather", arguments: { in: "Bergen" } })],
  },
  { role: "tool", content: [toolResultPart({ id: "c1", output: "rain" })], extra: { kept: true } },
];

test("a history stays as it is, and the request becomes its last turn", () => {
  expect(conversationOf({ messages: HISTORY })).toBe(HISTORY);
  const asked = conversationOf({
    messages: HISTORY,
    brief: { instruction: "Say where.", expected_output: "One word" },
  });
  expect(asked.slice(0, -1)).toEqual(HISTORY);
  expect(asked.at(-1)).toEqual(textMessage("user", "Say where.\n\nExpected: One word"));
});

test("structured input becomes a turn that states the required form of the output", () => {
  const [turn, ...others] = conversationOf(
    { input: { city: "Bergen" } },
    { type: "object", required: ["rain"] },
  );
  expect(others).toEqual([]);
  expect(turn).toEqual(
    textMessage(
      "user",
      '{\n  "city": "Bergen"\n}\n\nReply with JSON alone, by this JSON Schema: {"type":"object","required":["rain"]}',
    ),
  );
  expect(conversationOf({ input: "as it is" }, { type: "string" })).toEqual([
    textMessage("user", "as it is"),
  ]);
});

test("a conversation becomes a task: its last turn, with the turns before as context", () => {
  const messages = [...HISTORY, textMessage("user", "Say where.")];
  expect(briefOf({ messages })).toEqual({
    instruction: [
      "Say where.",
      "",
      "What was said before:",
      "anna: Where does it rain?",
      'assistant: [calls weather with {"in":"Bergen"}]',
      "tool: [result rain]",
    ].join("\n"),
  });
});

test("a task keeps its text, and gets the input and the history as context", () => {
  const work = {
    brief: { instruction: "Sum up.", expected_output: "A line" },
    input: { depth: 2 },
    messages: [textMessage("user", "Hello")],
  };
  expect(briefOf(work, { type: "number" })).toEqual({
    instruction: 'Sum up.\n\n{\n  "depth": 2\n}\n\nWhat was said before:\nuser: Hello',
    expected_output: 'A line\n\nReply with JSON alone, by this JSON Schema: {"type":"number"}',
  });
});

test("work that asks for nothing is a 422", () => {
  expect(() => conversationOf({})).toThrow(expect.objectContaining({ status: 422 }));
  expect(() => briefOf({ messages: [] })).toThrow(expect.objectContaining({ status: 422 }));
});

test("a result becomes turns under the member's name, or one turn with its output", () => {
  const said = [textMessage("assistant", "Bergen", "forecaster")];
  expect(repliesOf({ messages: said, output: 1 }, "bert")).toEqual([
    textMessage("assistant", "Bergen", "bert"),
  ]);
  expect(repliesOf({ messages: [], output: { rain: true } }, "bert")).toEqual([
    textMessage("assistant", '{\n  "rain": true\n}', "bert"),
  ]);
  expect(wordsOfResult({ messages: said, output: undefined, by: "bert" })).toBe("Bergen");
  expect(wordsOfResult({ messages: said, output: [1], by: "bert" })).toBe("[\n  1\n]");
});

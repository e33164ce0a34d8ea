/// <reference types="node" />
import { readFileSync } from "node:fs";
import type { ContentPart, Json, Message } from "@waybill/protocol";
import { expect, test } from "vitest";
import { resultAsData } from "./as-data.ts";
import { repliesOf, wordsOfResult } from "./conversation.ts";
import { historyFrom, lineOf } from "./speech.ts";

// Shared with the tests of the Python package.
const { replies, histories, refused, lines, words, data } = JSON.parse(
  readFileSync(new URL("../../vectors/speech.json", import.meta.url), "utf8"),
) as {
  replies: { name: string; as: string; result: Result; expect: Message[] }[];
  histories: Case[];
  refused: { name: string; part: ContentPart }[];
  lines: { name: string; message: Message; expect: string }[];
  words: { name: string; result: Result; expect: string }[];
  data: { name: string; result: Result; expect: Json }[];
};

interface Result {
  messages: Message[];
  output?: Json;
}

interface Case {
  name: string;
  by: string;
  names: string[];
  messages: Message[];
  expect: Message[];
}

test.for(replies)("a result: $name", ({ as, result, expect: expected }) => {
  const { messages, output } = result;
  expect(repliesOf({ messages, output }, as)).toEqual(expected);
});

test.for(lines)("a line: $name", ({ message, expect: expected }) => {
  expect(lineOf(message)).toBe(expected);
});

test.for(words)("a result in words: $name", ({ result, expect: expected }) => {
  expect(wordsOfResult({ output: undefined, ...result, by: "painter" })).toBe(expected);
});

test.for(data)("a result as data: $name", ({ result, expect: expected }) => {
  expect(resultAsData({ output: undefined, artifacts: [], ...result })).toEqual(expected);
});

test.for(histories)("a history: $name", ({ messages, by, names, expect: expected }) => {
  expect(historyFrom(messages, { by, names })).toEqual(expected);
});

test.for(histories)(
  "a history that is converted twice stays the same: $name",
  ({ expect: once, ...options }) => {
    expect(historyFrom(once, options)).toEqual(once);
  },
);

test.for(refused)(
  "a reference to a file stored at a model provider is refused: $name",
  ({ part }) => {
    for (const role of ["user", "assistant", "system", "tool"] as const)
      expect(() => historyFrom([{ role, content: [part] }], { by: "owner" })).toThrow(
        /model provider's storage/,
      );
  },
);

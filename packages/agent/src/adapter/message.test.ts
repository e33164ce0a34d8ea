import { expect, test } from "vitest";
import { artifactOf, bytesOf } from "./artifact.ts";
import {
  addedTo,
  textMessage,
  toolCallPart,
  toolCallsOf,
  toolResultPart,
  toolResultsOf,
} from "./message.ts";
import { portableOf } from "./portable.ts";
import { progressOf } from "./progress.ts";

test("tool calls and their results are read back as they were written", () => {
  const call = { id: "c1", name: "search", arguments: { q: "✓" } };
  const result = { id: "c1", output: [1, null] };
  const content = [{ type: "text", text: "x" }, toolCallPart(call), toolResultPart(result)];
  expect(toolCallsOf({ role: "assistant", content })).toEqual([call]);
  expect(toolResultsOf({ role: "tool", content })).toEqual([result]);
});

test("a result carries only the messages that were added", () => {
  const history = [textMessage("user", "a")];
  const added = [textMessage("assistant", "b")];
  expect(addedTo(history, [...history, ...added])).toEqual(added);
});

test("an artifact returns its bytes, and refuses bytes that do not match its digest", () => {
  const bytes = new Uint8Array([0, 255, 254, 10]);
  const artifact = artifactOf("a.bin", "application/octet-stream", bytes);
  expect(bytesOf(artifact)).toEqual(bytes);
  expect(() => bytesOf({ ...artifact, data: "AAAA" })).toThrow(/changed in transit/);
  const { data: _, ...elsewhere } = artifact;
  expect(() => bytesOf({ ...elsewhere, url: "https://files.example/a" })).toThrow(/lies at https/);
});

test("portable work has the four members and no others", () => {
  const body = { capability: "x", input: null, brief: undefined, metadata: { a: 1 } };
  expect(portableOf(body)).toEqual({ input: null });
  expect("brief" in portableOf(body)).toBe(false);
});

test.for([
  ["words", { message: "words" }],
  [
    { message: "half", fraction: 0.5 },
    { message: "half", fraction: 0.5 },
  ],
  [{ message: "words", fraction: undefined, data: undefined }, { message: "words" }],
  [{ fraction: 2 }, { data: { fraction: 2 } }],
  [{ step: 1, of: undefined }, { data: { step: 1 } }],
  [10n, { message: "10" }],
] as const)("%o is shown as progress", ([event, expected]) => {
  expect(progressOf(event)).toEqual(expected);
});

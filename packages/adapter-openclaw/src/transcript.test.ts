import { expect, test } from "vitest";
import { keysIn, turnState, usageOfTurn } from "./transcript.ts";
import type { TranscriptRow } from "./transcript.ts";

const asked: TranscriptRow = { role: "user", content: "Work.", idempotencyKey: "k1:user" };
const called: TranscriptRow = {
  role: "assistant",
  content: [{ type: "toolCall", name: "ls" }],
  stopReason: "toolUse",
  usage: { input: 7, output: 2, cacheRead: 3 },
  model: "m",
};
const listed: TranscriptRow = { role: "toolResult", content: [{ type: "text", text: "a" }] };
const replied: TranscriptRow = {
  role: "assistant",
  content: [{ type: "text", text: "Done." }],
  stopReason: "stop",
  __openclaw: { id: "row-4" },
};
const resumed: TranscriptRow = {
  role: "user",
  content: "[System] Your previous turn was interrupted",
  idempotencyKey: "k9:user",
};

test("a turn is finished once the agent has stopped by itself", () => {
  expect(turnState([asked, called, listed, replied], "k1")).toEqual({
    state: "finished",
    rowId: "row-4",
    text: "Done.",
  });
});

test("a turn that is at a tool is unfinished, and one that was never written down is absent", () => {
  expect(turnState([asked, called, listed], "k1")).toEqual({ state: "unfinished" });
  expect(turnState([asked, called, listed], "k2")).toEqual({ state: "absent" });
});

test("what a gateway resumes by itself does not finish the turn that was asked for", () => {
  expect(turnState([asked, called, resumed, replied], "k1")).toEqual({ state: "unfinished" });
});

test("a failed turn tells the gateway's reason", () => {
  const failed = { role: "assistant", content: "Out of reach.", stopReason: "error" };
  expect(turnState([asked, failed], "k1")).toEqual({ state: "failed", reason: "Out of reach." });
});

test("usage is counted for this turn alone, with cached tokens as input", () => {
  const counted = { model: "m", requests: 1, input_tokens: 10, cached_input_tokens: 3 };
  expect(usageOfTurn([called, asked, called, listed, resumed, called], "k1")).toEqual([
    { ...counted, output_tokens: 2 },
  ]);
});

test("the keys of turns are listed in order", () => {
  expect(keysIn([asked, replied, resumed])).toEqual(["k1", "k9"]);
});

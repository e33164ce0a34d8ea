import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, ScriptedModel } from "@waybill/scripted-model";
import { expect, onTestFinished, test } from "vitest";
import { realModel } from "./real.ts";

const asked = (messages: readonly unknown[]): ModelRequest => ({
  api: "chat",
  body: { model: "scripted", stream: true, messages },
  headers: {},
  index: 0,
  signal: new AbortController().signal,
});

function modelOver(other: ScriptedModel) {
  onTestFinished(() => other.close());
  return realModel({ OPENAI_API_KEY: "a key", OPENAI_BASE_URL: other.url, OPENAI_MODEL: "other" })!;
}

test("words and calls of the real model are passed on, under its own name", async () => {
  const calls = [{ id: "1", name: "look_up", arguments: { town: "Bergen" } }];
  const other = await startScriptedModel([{ text: "I look it up.", calls }]);
  const turn = modelOver(other).turn(asked([{ role: "user", content: "Rain?" }]));
  const words = await Array.fromAsync(turn.text as AsyncIterable<string>);
  expect(words.join("")).toBe("I look it up.");
  expect(await turn.calls).toEqual([{ id: "1", name: "look_up", arguments: '{"town":"Bergen"}' }]);
  expect(other.requests.at(0)!.body.model).toBe("other");
});

test("a real model's refusal is reported once, to the reader of its words", async () => {
  const turn = modelOver(await startScriptedModel([{ status: 401 }])).turn(asked([]));
  await expect(Array.fromAsync(turn.text as AsyncIterable<string>)).rejects.toMatchObject({
    status: 401,
  });
});

test("without a key there is no real model", () => {
  expect(realModel({ OPENAI_BASE_URL: "http://127.0.0.1:1" })).toBeUndefined();
});

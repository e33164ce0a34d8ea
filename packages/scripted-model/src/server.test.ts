import OpenAI, { APIError, APIUserAbortError } from "openai";
import type { ChatCompletionMessageParam } from "openai/resources";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import { afterEach, expect, test } from "vitest";
import { startScriptedModel } from "./server.ts";
import type { ScriptedModel } from "./server.ts";
import type { Script } from "./turn.ts";

const started: ScriptedModel[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((model) => model.close()));
});

async function modelOf(script: Script): Promise<{ client: OpenAI; model: ScriptedModel }> {
  const model = await startScriptedModel(script);
  started.push(model);
  return { client: new OpenAI({ apiKey: "none", baseURL: model.url, maxRetries: 0 }), model };
}

const HELLO = [{ role: "user" as const, content: "hello" }];
const TEXT = 'Good day to you, "naïve" 👩🏽‍🚀 one.';
const CALLS = [
  { id: "call_a", name: "weather", arguments: { town: "Bergen" } },
  { id: "call_b", name: "weather", arguments: { town: "Oslo" } },
];

for (const stream of [false, true]) {
  test(`chat completions, ${stream ? "streamed" : "whole"}`, async () => {
    const { client, model } = await modelOf([{ text: TEXT }, { text: "I look.", calls: CALLS }]);
    const ask = async () => {
      const body = { model: "m", messages: HELLO };
      if (!stream) return client.chat.completions.create(body);
      const options = { stream_options: { include_usage: true } };
      return client.chat.completions.stream({ ...body, ...options }).finalChatCompletion();
    };
    const [first, second] = [await ask(), await ask()];
    expect(first.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: TEXT } });
    expect(first.usage!.completion_tokens).toBeGreaterThan(0);
    expect(second.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "I look.",
        tool_calls: CALLS.map(({ id, name, arguments: given }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(given) },
        })),
      },
    });
    expect(model.requests.map(({ body }) => body.messages)).toEqual([HELLO, HELLO]);
  });

  test(`responses, ${stream ? "streamed" : "whole"}`, async () => {
    const { client } = await modelOf([
      { text: TEXT },
      { calls: CALLS },
      { refusal: "No." },
      { text: "and so on", cutBy: "length" },
    ]);
    const ask = async () => {
      const body = { model: "m", input: "hello" };
      return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
    };
    expect(await ask()).toMatchObject({ status: "completed", output_text: TEXT });
    expect((await ask()).output).toMatchObject(
      CALLS.map(({ id, name, arguments: given }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify(given),
      })),
    );
    expect((await ask()).output).toMatchObject([
      { type: "message", content: [{ type: "refusal", refusal: "No." }] },
    ]);
    expect(await ask()).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
  });

  test(`errors have the API's format, ${stream ? "streamed" : "whole"}`, async () => {
    const { client } = await modelOf([
      { status: 429, headers: { "retry-after": "7" } },
      { status: 500, error: { message: "Out of words." } },
      { malformed: "<html>502</html>" },
    ]);
    const ask = async () => client.chat.completions.create({ model: "m", messages: HELLO, stream });
    const limited = await ask().catch((error: unknown) => error as APIError);
    expect(limited).toBeInstanceOf(APIError);
    expect(limited).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect((limited as APIError).headers!.get("retry-after")).toBe("7");
    await expect(ask()).rejects.toMatchObject({ status: 500, message: "500 Out of words." });
    if (!stream) await expect(ask()).rejects.toThrow(/JSON|Unexpected token/);
    await expect(client.models.list()).rejects.toMatchObject({ status: 404 });
  });
}

test("a text is streamed piece by piece, held back by a gate", async () => {
  const gate = Promise.withResolvers<void>();
  const { client } = await modelOf(() => ({
    text: (async function* () {
      yield "half ";
      await gate.promise;
      yield "of it";
    })(),
  }));
  const heard: string[] = [];
  const stream = client.chat.completions.stream({ model: "m", messages: HELLO });
  for await (const { choices } of stream) {
    heard.push(choices[0]?.delta.content ?? "");
    if (heard.includes("half ")) gate.resolve();
  }
  expect(heard.join("|")).toBe("|half |of it|");
});

test("an exception between two pieces is an error in the middle of the stream", async () => {
  const broken = async function* () {
    yield "half ";
    throw new Error("Out of words.");
  };
  const { client } = await modelOf(() => ({ text: broken() }));
  const chat = client.chat.completions.stream({ model: "m", messages: HELLO });
  await expect(chat.finalContent()).rejects.toThrow(/Out of words/);
  const responses = client.responses.stream({ model: "m", input: "hello" });
  await expect(responses.finalResponse()).rejects.toThrow(/Out of words/);
});

test("a script learns that its client has disconnected", async () => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const { client } = await modelOf(async ({ signal }) => {
    asked.resolve();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    gone.resolve();
    return { text: "too late" };
  });
  const controller = new AbortController();
  const { signal } = controller;
  const asking = client.chat.completions.create({ model: "m", messages: HELLO }, { signal });
  await asked.promise;
  controller.abort();
  await expect(asking).rejects.toBeInstanceOf(APIUserAbortError);
  await gone.promise;
});

test("a request after the end of a script gets an error that says so", async () => {
  const { client } = await modelOf([]);
  await expect(client.responses.create({ model: "m", input: "hello" })).rejects.toThrow(
    /has 0 turns/,
  );
});

const call = (id: string) => ({
  id,
  type: "function" as const,
  function: { name: "weather", arguments: "{}" },
});

test("chat completions refuse tool calls without results, and results without calls", async () => {
  const { client, model } = await modelOf(() => ({ text: "It rains." }));
  const calling = { role: "assistant" as const, tool_calls: [call("call_a"), call("call_b")] };
  const result = (id: string) => ({ role: "tool" as const, tool_call_id: id, content: "Rain." });
  const ask = (...messages: ChatCompletionMessageParam[]) =>
    client.chat.completions.create({ model: "m", messages: [...HELLO, ...messages] });
  await expect(ask(calling, result("call_a"), ...HELLO)).rejects.toMatchObject({
    status: 400,
    param: "messages.[1].role",
    message: expect.stringContaining("did not have response messages: call_b"),
  });
  await expect(ask(calling, result("call_a"), ...HELLO, result("call_b"))).rejects.toMatchObject({
    status: 400,
  });
  await expect(ask(result("call_a"))).rejects.toMatchObject({
    status: 400,
    param: "messages.[1].role",
    message: expect.stringContaining("must be a response to a preceeding message"),
  });
  await ask(calling, result("call_b"), result("call_a"), ...HELLO);
  // The refused requests are recorded too.
  expect(model.requests).toHaveLength(4);
});

test("responses refuse tool calls without results, and results without calls", async () => {
  const { client } = await modelOf(() => ({ text: "It rains." }));
  const calling = { type: "function_call" as const, name: "weather", arguments: "{}" };
  const result = { type: "function_call_output" as const, output: "Rain." };
  const ask = (...input: ResponseInputItem[]) =>
    client.responses.create({ model: "m", input: [...HELLO, ...input] });
  await expect(ask({ ...calling, call_id: "call_a" })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("No tool output found for function call call_a."),
  });
  await expect(ask({ ...result, call_id: "call_a" })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("No tool call found for function call output with call_id"),
  });
  await ask({ ...calling, call_id: "call_a" }, { ...result, call_id: "call_a" }, ...HELLO);
});

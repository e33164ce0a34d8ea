import type { HandoffHandle, QuestionEvent } from "@waybill/agent";
import {
  artifactOf,
  textMessage,
  toolCallPart,
  toolCallsOf,
  toolResultPart,
} from "@waybill/agent/adapter";
import { seenByChat, seenByResponses } from "@waybill/conformance/model";
import type { CapabilityInput, ContentPart, Message } from "@waybill/protocol";
import type { Script } from "@waybill/scripted-model";
import { expect, test } from "vitest";
import type { Conversation } from "./conversation.ts";
import { serveConversation } from "./serve.ts";
import { localTool, questionTool } from "./tool.ts";
import type { Tool } from "./tool.ts";
import { world } from "./world-fixture.ts";

const COUNT: CapabilityInput = {
  name: "count",
  output_schema: {
    type: "object",
    properties: { count: { type: "integer" } },
    required: ["count"],
  },
};

const CHART = artifactOf("chart.txt", "text/plain", new TextEncoder().encode("1 2 3"));

const draw: Tool = {
  name: "draw",
  description: "Draws a chart.",
  parameters: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
  use: async () => ({ output: "Drawn.", artifacts: [CHART] }),
};

async function served(
  script: Script,
  options: Partial<Conversation> = {},
  capability: CapabilityInput = COUNT,
) {
  const here = await world();
  const { client, model } = await here.model(script);
  const counter = here.agent("counter");
  counter.serve(...serveConversation({ client, model: "m", ...options }, capability));
  await counter.start();
  const owner = here.agent("owner");
  const handoff = () => owner.handoff({ capability: capability.name, input: "Count the words." });
  return { here, model, handoff };
}

async function asked(handle: HandoffHandle): Promise<QuestionEvent> {
  for await (const question of handle.questions) return question;
  throw new Error("Nothing was asked.");
}

for (const api of ["chat", "responses"] as const) {
  test(`calls of several turns followed by all their results are sent as the API requires, by ${api}`, async () => {
    const calling = (id: string): Message => ({
      role: "assistant",
      name: "almanac",
      content: [toolCallPart({ id, name: "weather", arguments: {} })],
    });
    const results = ["call_1", "call_2"].map((id) => toolResultPart({ id, output: "Rain." }));
    const messages: Message[] = [
      textMessage("user", "Where does it rain?"),
      calling("call_1"),
      calling("call_2"),
      { role: "tool", name: "weather", content: results },
    ];
    const { here, model } = await served([{ text: "Everywhere." }], { api }, { name: "ask" });
    const handle = here.agent("owner").handoff({ capability: "ask", messages });
    expect((await handle.result).output).toBe("Everywhere.");
    const seen = { chat: seenByChat, responses: seenByResponses }[api](model.requests[0]!);
    expect(seen.messages!.flatMap(toolCallsOf).map(({ id }) => id)).toEqual(["call_1", "call_2"]);
  });

  test(`a result that does not match its schema is asked for once more, by ${api}`, async () => {
    const { model, handoff } = await served(
      [{ text: '{"count": "many"}' }, { text: 'Sorry.\n```json\n{"count": 3}\n```' }],
      { api },
    );
    expect((await handoff().result).output).toEqual({ count: 3 });
    const [first, second] = model.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain('"json_schema"');
    expect(second).toContain("/count");
  });

  test(`a result that is not JSON, twice, is a 520, by ${api}`, async () => {
    const { model, handoff } = await served(() => ({ text: "three" }), { api });
    await expect(handoff().result).rejects.toMatchObject({ status: 520 });
    // Two calls in each attempt, and the hub makes a second attempt.
    expect(model.requests).toHaveLength(4);
  });

  test(`a model is told of invalid arguments and unknown tools, by ${api}`, async () => {
    const { model, handoff } = await served(
      [
        { calls: [{ name: "draw", arguments: "{not json" }] },
        { calls: [{ name: "paint", arguments: {} }] },
        { text: '{"count": 3}' },
      ],
      { api, tools: [draw] },
    );
    expect((await handoff().result).output).toEqual({ count: 3 });
    expect(JSON.stringify(model.requests[1]!.body)).toContain("break the schema of draw");
    expect(JSON.stringify(model.requests[2]!.body)).toContain("There is no tool paint");
  });

  test(`a model that is cut off or refuses is a failure, by ${api}`, async () => {
    const { handoff } = await served(
      [{ text: '{"count": 3', cutBy: "length" }, { refusal: "I do not count." }],
      { api },
    );
    await expect(handoff().result).rejects.toMatchObject({ status: 500, message: /cut off/ });
    await expect(handoff().result).rejects.toMatchObject({ message: /I do not count/ });
  });

  test(`a stream that ends too early is retried, by ${api}`, async () => {
    const broken = async function* () {
      yield '{"cou';
      throw new Error("Out of words.");
    };
    const { model, handoff } = await served(
      ({ index }) => (index === 0 ? { text: broken() } : { text: '{"count": 3}' }),
      { api },
    );
    const { output, attempt } = await handoff().result;
    expect([output, attempt, model.requests.length]).toEqual([{ count: 3 }, 2, 2]);
  });
}

test("a rate-limited request is retried after the time that the host names", async () => {
  const limited = { status: 429, headers: { "retry-after": "0" } };
  const { handoff } = await served([limited, { text: '{"count": 3}' }]);
  expect((await handoff().result).attempt).toBe(2);
});

test("an unknown model is reported, and not retried", async () => {
  const { handoff, model } = await served([{ status: 404 }]);
  await expect(handoff().result).rejects.toMatchObject({
    status: 500,
    message: expect.stringContaining("The model does not exist"),
  });
  expect(model.requests).toHaveLength(1);
});

test("a model that never stops using tools is stopped", async () => {
  const calls = [{ name: "draw", arguments: { of: "words" } }];
  const { handoff, model } = await served(() => ({ calls }), { tools: [draw], turnsAtMost: 3 });
  await expect(handoff().result).rejects.toMatchObject({ status: 508 });
  expect(model.requests).toHaveLength(3);
});

test("a question pauses the conversation, and earlier results of tools are kept", async () => {
  const { here, handoff } = await served(
    [
      {
        calls: [
          { id: "call_1", name: "draw", arguments: { of: "words" } },
          { id: "call_2", name: "ask_delegator", arguments: { question: "Which words?" } },
        ],
      },
      { text: "All three." },
    ],
    { tools: [draw, questionTool()] },
    { name: "talk" },
  );
  const handle = handoff();
  const question = await asked(handle);
  expect(question).toMatchObject({ id: "call_2", text: "Which words?", isPaused: true });
  const view = await here.hub.handoff(handle.id, "owner");
  expect(view?.attempts.at(-1)?.state).toBe("closed");
  await handle.answer(question.id, "Those of the title.");
  const { output, artifacts, attempt } = await handle.result;
  expect([output, artifacts, attempt]).toEqual(["All three.", [CHART], 2]);
});

test("the model's text is shown while it is written, and not recorded", async () => {
  const words = Array.from({ length: 200 }, (_, index) => `word ${index} `);
  const { handoff } = await served([{ text: words }], {}, { name: "talk" });
  const handle = handoff();
  let shown = "";
  for await (const { text } of handle.deltas) shown += text;
  const { output } = await handle.result;
  expect(shown).toBe(words.join(""));
  expect(output).toBe(shown);
  const progress: unknown[] = [];
  for await (const event of handle.progress) progress.push(event);
  expect(progress).toEqual([]);
});

test("tools are looked up for each conversation", async () => {
  let looked = 0;
  const tools = () => {
    looked++;
    return [localTool({ ...draw, name: `draw_${looked}`, run: () => "Drawn." })];
  };
  const { handoff, model } = await served(() => ({ text: '{"count": 3}' }), { tools });
  await handoff().result;
  await handoff().result;
  const names = model.requests.map(({ body }) => body.tools[0].function.name);
  expect(names).toEqual(["draw_1", "draw_2"]);
});

test.for(["chat", "responses"] as const)(
  "%s: files that a model can't be shown, or that lie with its host, are refused before it is called",
  async (api) => {
    const here = await world();
    const { client, model } = await here.model(() => ({ text: "A cat." }));
    const viewer = here.agent("viewer");
    viewer.serve(...serveConversation({ client, model: "m", api }, { name: "view" }));
    await viewer.start();
    const [owner, words] = [here.agent("owner"), { type: "text", text: "What is it?" }];
    const refused = (part: ContentPart, role: "user" | "assistant") =>
      expect(
        owner.handoff({ capability: "view", messages: [{ role, content: [words, part] }] }).result,
      ).rejects.toMatchObject({ status: 422, message: expect.stringContaining(part.type) });
    for (const role of ["user", "assistant"] as const) {
      await refused({ type: "video", of: "a cat" }, role);
      await refused({ type: "input_file", file_id: "file-1" }, role);
      await refused({ type: "input_image", file_id: "file-1" }, role);
    }
    expect(model.requests).toHaveLength(0);
    const data = { type: "data", data: { legs: 4 } };
    const messages = [{ role: "user" as const, content: [words, data, { type: "thinking" }] }];
    await owner.handoff({ capability: "view", messages }).result;
    expect(JSON.stringify(model.requests[0]!.body)).toContain('{\\"legs\\":4}');
  },
);

test("a conversation gets files as files, and the names of the speakers", async () => {
  const here = await world();
  const { client, model } = await here.model(() => ({ text: "A cat." }));
  const image = artifactOf("cat.png", "image/png", Uint8Array.of(1, 2, 3));
  for (const api of ["chat", "responses"] as const) {
    const viewer = here.agent(`viewer-${api}`);
    viewer.serve(...serveConversation({ client, model: "m", api }, { name: api }));
    await viewer.start();
    const messages = [textMessage("user", "What is it?", "anna lee")];
    await here.agent(`owner-${api}`).handoff({ capability: api, messages, artifacts: [image] })
      .result;
  }
  const [chat, responses] = model.requests.map(({ body }) => body);
  expect(chat.messages).toEqual([
    {
      role: "user",
      name: "anna_lee",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
      ],
    },
  ]);
  expect(responses.input[0].content).toEqual([
    { type: "input_text", text: "anna lee: What is it?" },
    { type: "input_image", image_url: "data:image/png;base64,AQID", detail: "auto" },
  ]);
});

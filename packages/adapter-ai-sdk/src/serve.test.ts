import {
  generateText,
  isStepCount,
  Output,
  simulateReadableStream,
  streamText,
  tool,
  ToolLoopAgent,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { artifactOf, currentRun, mediaIn, textMessage } from "@waybill/agent/adapter";
import { world } from "@waybill/conformance/vitest";
import type { Json } from "@waybill/protocol";
import type { ModelRequest } from "@waybill/scripted-model";
import { expect, test } from "vitest";
import * as z from "zod";
import type { GenerationOptions } from "./generation.ts";
import { modelOf, plain } from "./model-fixture.ts";
import { questionTool } from "./question.ts";
import { serveAgent, serveGeneration } from "./serve.ts";

const REPORT = { name: "report", takes: "conversation" } as const;
const PAY = { pay: "user-approval" } as const;
const brief = { instruction: "Report." };

test.for<[string, Json, number, string]>([
  ["approved", true, 1, "Paid."],
  ["refused, with a reason", { approve: false, reason: "Too dear." }, 0, "Not approved: Too dear."],
  ["refused by anything but a clear yes", "yes", 0, "Not approved: yes"],
])("a tool that needs approval asks the delegator, and is %s", async ([, answer, uses, told]) => {
  const { agent } = await world();
  const requests: ModelRequest[] = [];
  let used = 0;
  const pay = tool({
    description: "Pays.",
    inputSchema: z.object({ sum: z.number() }),
    execute: () => {
      used++;
      return "Paid.";
    },
  });
  const model = await modelOf((request) => {
    requests.push(request);
    const isFirst = request.body.messages.length === 1;
    return isFirst ? { calls: [{ name: "pay", arguments: { sum: 5 } }] } : { text: "Done." };
  });
  const clerk = new ToolLoopAgent({ ...plain, model, tools: { pay }, toolApproval: PAY });
  const first = agent("clerk");
  first.serve(...serveAgent(clerk, REPORT));
  await first.start();
  const handle = agent("owner").handoff({ capability: "report", brief });
  for await (const question of handle.questions) {
    expect(question.text).toBe('May pay be used with {"sum":5}?');
    expect(question.data).toEqual({ tool: "pay", arguments: { sum: 5 } });
    // Nothing of the run has to stay in memory.
    await first.stop({ mode: "abandon" });
    await handle.answer(question.id, answer);
    const next = agent("clerk");
    next.serve(...serveAgent(clerk, REPORT));
    await next.start();
  }
  expect((await handle.result).output).toBe("Done.");
  expect(used).toBe(uses);
  expect(JSON.stringify(requests.at(-1)!.body.messages.at(-1))).toContain(told);
});

test("a question of one call, and approval of another, are asked together", async () => {
  const { agent } = await world();
  const model = await modelOf(({ body }) =>
    body.messages.length === 1
      ? {
          calls: [
            { id: "c1", name: "ask_delegator", arguments: { question: "Which town?" } },
            { id: "c2", name: "pay", arguments: {} },
            { id: "c3", name: "look", arguments: {} },
          ],
        }
      : { text: JSON.stringify(body.messages.slice(2)) },
  );
  const nothing = z.object({});
  const tools = {
    ask_delegator: questionTool(),
    pay: tool({ inputSchema: nothing, execute: () => "Paid." }),
    look: tool({ inputSchema: nothing, execute: () => "Seen." }),
  };
  const clerk = agent("clerk");
  clerk.serve(
    ...serveAgent(new ToolLoopAgent({ ...plain, model, tools, toolApproval: PAY }), REPORT),
  );
  await clerk.start();
  const handle = agent("owner").handoff({ capability: "report", brief });
  const answers: Record<string, Json> = { c1: "Bergen", c2: true };
  for await (const { id } of handle.questions) await handle.answer(id, answers[id]!);
  const { output } = await handle.result;
  for (const each of ["Bergen", "Paid.", "Seen."]) expect(output).toContain(each);
});

test("an agent with an output of its own gives a value, and an invalid one is a 520", async () => {
  const { agent } = await world();
  const output = Output.object({ schema: z.object({ town: z.string() }) });
  const says = ['{"town":"Bergen"}', "no JSON"];
  const model = await modelOf(({ index }) => ({ text: says[index]! }));
  const finder = new ToolLoopAgent({ ...plain, model, output });
  const clerk = agent("clerk");
  const capability = { ...REPORT, output_schema: { town: "string" }, max_attempts: 1 };
  clerk.serve(...serveAgent(finder, capability));
  await clerk.start();
  const owner = agent("owner");
  const ask = () => owner.handoff({ capability: "report", brief }).result;
  expect((await ask()).output).toEqual({ town: "Bergen" });
  await expect(ask()).rejects.toMatchObject({ status: 520 });
});

test.for<[string, "generate" | "stream"]>([
  ["generateText", "generate"],
  ["streamText", "stream"],
])(
  "a function with %s is served, with its tools' files and the tokens of each step",
  async ([, how]) => {
    const { agent } = await world();
    const model = await modelOf([
      { calls: [{ name: "draw", arguments: {} }], usage: { input_tokens: 10, output_tokens: 2 } },
      { text: "Here it is.", usage: { input_tokens: 20, output_tokens: 3 } },
    ]);
    const file = artifactOf("a.png", "image/png", new Uint8Array([1, 2, 3]));
    const draw = tool({ inputSchema: z.object({}), execute: () => [file] });
    const settings = {
      model,
      instructions: "You draw.",
      tools: { draw },
      stopWhen: isStepCount(3),
    };
    const start = (given: GenerationOptions) =>
      how === "stream"
        ? streamText({ ...settings, ...given })
        : generateText({ ...settings, ...given });
    const painter = agent("painter");
    painter.serve(...serveGeneration(start, REPORT, { name: "painter" }));
    await painter.start();
    const messages = [textMessage("user", "Draw.", "anna")];
    const result = await agent("owner").handoff({ capability: "report", messages }).result;
    expect(result.output).toBe("Here it is.");
    expect(result.artifacts).toEqual([file]);
    expect(result.messages.map(({ role, name }) => [role, name])).toEqual([
      ["assistant", "painter"],
      ["tool", "draw"],
      ["assistant", "painter"],
    ]);
    expect(result.usage!.total).toMatchObject({ requests: 2, input_tokens: 30, output_tokens: 5 });
  },
);

test("a function that fails after its first step has counted its tokens", async () => {
  const { agent } = await world();
  const model = await modelOf([
    { calls: [{ name: "go_on", arguments: {} }], usage: { input_tokens: 10, output_tokens: 2 } },
    { status: 400 },
  ]);
  const tools = { go_on: tool({ inputSchema: z.object({}), execute: () => "Go on." }) };
  const settings = { model, tools, stopWhen: isStepCount(3), maxRetries: 0 };
  const clerk = agent("clerk");
  clerk.serve(...serveGeneration((given) => generateText({ ...settings, ...given }), REPORT));
  await clerk.start();
  const handle = agent("owner").handoff({ capability: "report", brief });
  await expect(handle.result).rejects.toMatchObject({ status: 500 });
  expect(handle.usage?.total).toMatchObject({ requests: 1, input_tokens: 10, output_tokens: 2 });
});

test("an image that a model makes is in the messages and the files of the result", async () => {
  const { agent } = await world();
  const bytes = new Uint8Array([137, 80, 78, 71]);
  const data = { type: "data" as const, data: bytes };
  const total = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: "stream-start", warnings: [] },
          { type: "file", mediaType: "image/png", data },
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "A dot." },
          { type: "text-end", id: "1" },
          {
            type: "finish",
            finishReason: { unified: "stop", raw: "stop" },
            usage: { inputTokens: total, outputTokens: total },
          },
        ],
      }),
    }),
  });
  const painter = agent("painter");
  painter.serve(...serveAgent(new ToolLoopAgent({ ...plain, model }), REPORT));
  await painter.start();
  const messages = [textMessage("user", "Draw.")];
  const result = await agent("owner").handoff({ capability: "report", messages }).result;
  const [image] = result.messages.flatMap(mediaIn);
  const expected = artifactOf("file", "image/png", bytes);
  expect(image).toMatchObject({ type: "image", media_type: "image/png", data: expected.data });
  expect(result.artifacts).toEqual([expected]);
});

test("what a local tool shows while it works is progress, and a sub-agent's own stream stays inside", async () => {
  const { agent } = await world();
  const model = await modelOf([{ calls: [{ name: "dig", arguments: {} }] }, { text: "Dug." }]);
  const dig = tool({
    inputSchema: z.object({}),
    async *execute() {
      yield { message: "half of it", fraction: 0.5 };
      yield { id: "m1", role: "assistant", parts: [{ type: "text", text: "inside" }] };
      yield "all of it";
    },
  });
  const digger = agent("digger");
  digger.serve(...serveAgent(new ToolLoopAgent({ ...plain, model, tools: { dig } }), REPORT));
  await digger.start();
  const handle = agent("owner").handoff({ capability: "report", brief });
  const shown: unknown[] = [];
  for await (const { message, fraction } of handle.progress) shown.push([message, fraction]);
  expect(shown).toEqual([
    ["half of it", 0.5],
    ["all of it", undefined],
  ]);
  await handle.result;
});

test("a tool gets the files that its model can't be shown, and the model is told of them", async () => {
  const { agent } = await world();
  const seen: unknown[] = [];
  const model = await modelOf((request) => {
    seen.push(JSON.stringify(request.body.messages[0]));
    return request.index === 0 ? { calls: [{ name: "read", arguments: {} }] } : { text: "Read." };
  });
  const file = artifactOf("notes.bin", "application/x-notes", new Uint8Array([1, 2]));
  const read = tool({
    inputSchema: z.object({}),
    execute: () => {
      seen.push(currentRun()!.work.artifacts);
      return "Read.";
    },
  });
  const reader = agent("reader");
  reader.serve(...serveAgent(new ToolLoopAgent({ ...plain, model, tools: { read } }), REPORT));
  await reader.start();
  await agent("owner").handoff({ capability: "report", brief, artifacts: [file] }).result;
  expect(seen[0]).toContain("notes.bin");
  expect(seen[1]).toEqual([file]);
});

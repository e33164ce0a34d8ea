import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { world } from "@waybill/conformance/vitest";
import type { HandoffHandle } from "@waybill/agent";
import { expect, test } from "vitest";
import { found, modelOf, plain } from "./agent-fixture.ts";
import { remoteSubAgent } from "./remote-sub-agent.ts";
import { remoteTool } from "./remote-tool.ts";
import { serveAgent } from "./serve.ts";
import { takeOutput } from "./streamed.ts";

type Kind = "agents" | "tools";

/** A supervisor with one remote agent, which streams its text. */
async function withRemote(kind: Kind) {
  const place = await world();
  const [researcher, editor] = [place.agent("researcher"), place.agent("editor")];
  const seen = Promise.withResolvers<void>();
  researcher.serve({ name: "research", takes: "delegation" }, async ({ progress, delta }) => {
    await progress({ message: "half of it" });
    delta("It rains");
    await seen.promise;
    return "It rains in Bergen.";
  });
  await researcher.start();
  const research = await found(place, "research");
  const supervisor = new Agent({
    ...plain,
    model: await modelOf((request) => {
      if (request.index > 0) return { text: "Bergen, then." };
      const { name } = request.body.tools[0].function;
      const asked = "Where does it rain?";
      return { calls: [{ name, arguments: { prompt: asked, instruction: asked } }] };
    }),
    ...(kind === "agents"
      ? { agents: { research: remoteSubAgent(editor, research, { run: () => "run-1" }) } }
      : { tools: { research: remoteTool(editor, research) } }),
  });
  new Mastra({ agents: { supervisor }, logger: false });
  return { place, editor, supervisor, seen };
}

test.for<[string, Kind, string]>([
  [
    "a sub-agent shows text while it is written, and the rest at the end",
    "agents",
    "It rains in Bergen.",
  ],
  ["a remote tool shows text while it is written", "tools", "It rains"],
])("%s", async ([, kind, whole]) => {
  const { supervisor, seen } = await withRemote(kind);
  const stream = await supervisor.stream("Report.", { runId: "run-1" });
  const milestones: unknown[] = [];
  let words = "";
  for await (const chunk of stream.fullStream as AsyncIterable<Streamed>) {
    const output = chunk.payload?.output;
    if (output?.type === "text-delta") words += output.payload.text;
    if (words === "It rains") seen.resolve();
    if (output?.type === "waybill.progress") milestones.push(output.message);
    if (chunk.type === "data-waybill-progress") milestones.push(chunk.data.message);
  }
  expect(words).toBe(whole);
  expect(milestones).toEqual(["half of it"]);
});

interface Streamed {
  readonly type: string;
  readonly data: { message: string };
  readonly payload?: { output?: { type: string; message?: string; payload: { text: string } } };
}

test("a file that a local sub-agent's model makes is part of the result", () => {
  const nothing = () => undefined;
  const run = { progress: nothing, delta: nothing, addUsage: nothing };
  const file = { data: "AQI=", mediaType: "image/png", filename: "tree.png" };
  const chunk = { type: "file", from: "AGENT", runId: "run-1", payload: file };
  const inner = { type: "tool-output", from: "USER", payload: { output: chunk } };
  expect(takeOutput({ output: inner, toolName: "agent-painter" }, run)).toMatchObject([
    { name: "tree.png", media_type: "image/png", data: "AQI" },
  ]);
});

test.for<[string, Kind, string]>([
  ["sub-agent", "agents", "It rains in Bergen."],
  ["remote tool", "tools", "It rains"],
])("the text of a %s reaches the delegator of a served run once, as deltas", async (given) => {
  const [, kind, whole] = given;
  const { place, editor, supervisor, seen } = await withRemote(kind);
  seen.resolve();
  editor.serve(...serveAgent(supervisor, { name: "edit", takes: "conversation" }));
  await editor.start();
  const brief = { instruction: "Write." };
  const shown = await watched(place.agent("owner").handoff({ capability: "edit", brief }));
  expect(shown.words).toBe(`${whole}Bergen, then.`);
  expect(JSON.stringify(shown.progress)).not.toContain("It rains");
  expect(JSON.stringify(shown.progress)).toContain("half of it");
});

/** What is shown during a handoff, and its result. */
async function watched(handle: HandoffHandle) {
  const progress: unknown[] = [];
  let words = "";
  const milestones = async () => {
    for await (const { message, data } of handle.progress) progress.push(message ?? data);
  };
  const tokens = async () => {
    for await (const { text } of handle.deltas) words += text;
  };
  await Promise.all([milestones(), tokens()]);
  return { progress, words, result: await handle.result };
}

const LOOK = createTool({
  id: "look",
  description: "Looks it up.",
  execute: async (_, { writer }) => {
    await writer?.write({ found: "a page" });
    return { secret: "of the inside" };
  },
});

test("a local sub-agent's text is shown as deltas, its tokens are counted, and its chunks stay inside", async () => {
  const { agent } = await world();
  const usage = { input_tokens: 10, output_tokens: 2 };
  const words = Array.from({ length: 40 }, (_, index) => `word ${index}`).join(" ");
  const researcher = new Agent({
    ...plain,
    id: "researcher",
    name: "researcher",
    description: "Finds things out.",
    instructions: "Instructions of the inside.",
    model: await modelOf([
      { calls: [{ name: "look", arguments: { at: "the inside" } }], usage },
      { text: words, usage },
    ]),
    tools: { look: LOOK },
  });
  const supervisor = new Agent({
    ...plain,
    model: await modelOf([
      { calls: [{ name: "agent-research", arguments: { prompt: "Find out." } }], usage },
      { text: "That is all.", usage },
    ]),
    agents: { research: researcher },
  });
  new Mastra({ agents: { supervisor }, logger: false });
  const editor = agent("editor");
  editor.serve(...serveAgent(supervisor, { name: "edit", takes: "conversation" }));
  await editor.start();
  const handle = agent("owner").handoff({ capability: "edit", brief: { instruction: "Write." } });
  const shown = await watched(handle);
  expect(shown.progress).toEqual([{ found: "a page" }]);
  expect(shown.words).toBe(`${words}That is all.`);
  expect(shown.result.usage?.total).toMatchObject({
    requests: 4,
    input_tokens: 40,
    output_tokens: 8,
  });
});

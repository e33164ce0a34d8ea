import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { world } from "@waybill/conformance/vitest";
import type { HandoffHandle } from "@waybill/agent";
import { expect, test } from "vitest";
import { modelOf, plain } from "./agent-fixture.ts";
import { serveAgent } from "./serve.ts";

/** What is shown while a handoff is worked on, and its end. */
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

test("a local sub-agent's words are deltas, its tokens are counted, and its chunks stay inside", async () => {
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

import {
  Agent,
  OpenAIProvider,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
} from "@openai/agents";
import { withTrace } from "@openai/agents";
import { world } from "@waybill/conformance/vitest";
import { startScriptedModel } from "@waybill/scripted-model";
import type { Script } from "@waybill/scripted-model";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { remoteHandoff } from "./remote-agent.ts";
import { serveAgent } from "./serve.ts";

setTracingDisabled(false);
setTraceProcessors([]);

async function runnerFor(script: Script): Promise<Runner> {
  const model = await startScriptedModel(script);
  onTestFinished(() => model.close());
  const openAIClient = new OpenAI({ apiKey: "none", baseURL: model.url, maxRetries: 0 });
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }) });
}

test("the text of a served agent's model is shown as deltas, and not as progress", async () => {
  const { agent } = await world();
  const words = Array.from({ length: 40 }, (_, index) => `word ${index}`).join(" ");
  const editor = agent("editor");
  const writer = new Agent({ name: "writer", model: "m" });
  const runner = await runnerFor([{ text: words }]);
  editor.serve(...serveAgent(writer, { name: "write", takes: "conversation" }, { runner }));
  await editor.start();
  const handle = agent("owner").handoff({ capability: "write", brief: { instruction: "Write." } });
  const progress: unknown[] = [];
  let shown = "";
  const milestones = async () => {
    for await (const event of handle.progress) progress.push(event);
  };
  const tokens = async () => {
    for await (const { text } of handle.deltas) shown += text;
  };
  await Promise.all([milestones(), tokens()]);
  expect(shown).toBe(words);
  expect(JSON.stringify(progress)).not.toContain("word");
});

test.for<[string, string[], string]>([
  ["begins its reply", ["It rains"], "It rains in Bergen."],
  [
    "says something before its reply",
    ["I look. ", "It rains in Bergen."],
    "I look. It rains in Bergen.",
  ],
])(
  "a remote agent that %s is shown while it writes, without repetition",
  async ([, pieces, whole]) => {
    const { agent, hub } = await world();
    const researcher = agent("researcher");
    const seen = Promise.withResolvers<void>();
    researcher.serve({ name: "research", takes: "conversation" }, async ({ delta }) => {
      for (const piece of pieces) delta(piece);
      await seen.promise;
      return "It rains in Bergen.";
    });
    await researcher.start();
    const { capability } = (await hub.find({ capability: "research" })).fits[0]!;
    const handoff = remoteHandoff(agent("boss"), capability);
    const runner = await runnerFor([
      { calls: [{ id: "call_1", name: handoff.toolName, arguments: {} }] },
    ]);
    const triage = new Agent({ name: "triage", model: "m", handoffs: [handoff] });
    let shown = "";
    await withTrace("one", async () => {
      const streamed = await runner.run(triage, "Where does it rain?", { stream: true });
      for await (const event of streamed) {
        if (event.type !== "raw_model_stream_event") continue;
        if (event.data.type !== "output_text_delta") continue;
        shown += event.data.delta;
        if (shown === pieces.join("")) seen.resolve();
      }
    });
    expect(shown).toBe(whole);
  },
);

import {
  Agent,
  OpenAIProvider,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  withTrace,
} from "@openai/agents";
import { artifactOf, textMessage } from "@waybill/agent/adapter";
import { world } from "@waybill/conformance/vitest";
import type { World } from "@waybill/conformance/vitest";
import type { Artifact, Capability } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { Script } from "@waybill/scripted-model";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { questionTool } from "./question.ts";
import { remoteAgent, remoteHandoff } from "./remote-agent.ts";
import { remoteTool } from "./remote-tool.ts";
import { serveAgent } from "./serve.ts";

setTracingDisabled(false);
setTraceProcessors([]);

const NOTES = artifactOf("notes.bin", "application/x-notes", new Uint8Array([1, 2]));

async function runnerFor(script: Script) {
  const model = await startScriptedModel(script);
  onTestFinished(() => model.close());
  const openAIClient = new OpenAI({ apiKey: "none", baseURL: model.url, maxRetries: 0 });
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses: true });
  return { runner: new Runner({ modelProvider }), model };
}

/** A remote agent that returns a file, with or without text. */
async function painter({ agent, hub }: World, words: string | undefined): Promise<Capability> {
  const worker = agent("painter-agent");
  worker.serve({ name: "paint", takes: "conversation" }, ({ result }) => {
    const messages = words === undefined ? [] : [textMessage("assistant", words)];
    return result({ messages, artifacts: [NOTES] });
  });
  await worker.start();
  return (await hub.find({ capability: "paint" })).fits[0]!.capability;
}

test.for<[string, string | undefined, string]>([
  ["with words", "Done.", "Done."],
  ["alone", undefined, "[file notes.bin, application/x-notes]"],
])(
  "files that a remote agent returns %s are named to the next model, and reach the next agent",
  async (given) => {
    const [, words, output] = given;
    const here = await world();
    const paint = remoteHandoff(here.agent("boss"), await painter(here, words));
    const seen: (Artifact[] | undefined)[] = [];
    const critic = here.agent("critic-agent");
    critic.serve({ name: "judge", takes: "conversation" }, ({ body }) => {
      seen.push(body.artifacts);
      return "Fine.";
    });
    await critic.start();
    const { fits } = await here.hub.find({ capability: "judge" });
    const judge = remoteHandoff(here.agent("boss"), fits[0]!.capability);
    const { runner, model } = await runnerFor([
      { calls: [{ id: "call_1", name: "transfer_to_paint", arguments: {} }] },
      { calls: [{ id: "call_2", name: "transfer_to_judge", arguments: {} }] },
    ]);
    const triage = new Agent({ name: "triage", model: "m", handoffs: [paint, judge] });
    const first = await withTrace("one", () => runner.run(triage, "Paint."));
    expect(first.finalOutput).toBe(output);
    const next = [...first.history, { role: "user", content: "Judge." } as const];
    await withTrace("two", () => runner.run(triage, next));
    const told = JSON.stringify(model.requests[1]!.body.input);
    expect(told).toContain('"paint: [file notes.bin, application/x-notes]"');
    expect(seen).toEqual([[NOTES]]);
  },
);

test("files of remote agents are returned with the result of a served agent, also after a pause", async () => {
  const here = await world();
  const paint = remoteTool(here.agent("editor"), await painter(here, "Done."));
  const { runner } = await runnerFor([
    { calls: [{ id: "call_1", name: "paint", arguments: { instruction: "Paint." } }] },
    { calls: [{ id: "call_2", name: "ask_delegator", arguments: { question: "Is it all?" } }] },
    { text: "That is all." },
  ]);
  const writer = new Agent({ name: "writer", model: "m", tools: [paint, questionTool()] });
  const editor = here.agent("editor");
  editor.serve(...serveAgent(writer, { name: "edit", takes: "conversation" }, { runner }));
  await editor.start();
  const messages = [textMessage("user", "Paint.")];
  const handle = here.agent("owner").handoff({ capability: "edit", messages });
  for await (const { id } of handle.questions) await handle.answer(id, "Yes.");
  const result = await handle.result;
  expect([result.output, result.artifacts]).toEqual(["That is all.", [NOTES]]);
});

test("a model is told the files of a remote agent that it uses by asTool", async () => {
  const here = await world();
  const remote = remoteAgent(here.agent("boss"), await painter(here, "Done."));
  const asked = remote.asTool({ toolName: "ask_painter", toolDescription: "Asks the painter." });
  const { runner, model } = await runnerFor([
    { calls: [{ id: "call_1", name: "ask_painter", arguments: { input: "Paint." } }] },
    { text: "That is all." },
  ]);
  const asker = new Agent({ name: "asker", model: "m", tools: [asked] });
  await withTrace("one", () => runner.run(asker, "Paint."));
  expect(JSON.stringify(model.requests[1]!.body.input)).toContain("notes.bin");
});

import { isInterrupted, MemorySaver } from "@langchain/langgraph";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { createSupervisor } from "@langchain/langgraph-supervisor";
import { createHandoffTool, createSwarm } from "@langchain/langgraph-swarm";
import { markedAsData } from "@waybill/agent/adapter";
import { createAgent, tool } from "langchain";
import { expect, test } from "vitest";
import * as z from "zod";
import { ScriptedModel, usingTools } from "./model-fixture.ts";
import { remoteMember } from "./remote-member.ts";
import { remoteTool } from "./remote-tool.ts";
import { unfinishedThreads, wake } from "./wake.ts";
import type { Graph } from "./graph.ts";
import { world } from "@waybill/conformance/vitest";
import { asPublished } from "./published-fixture.ts";

const LOOK_UP = { name: "look_up", input_schema: { town: "string" } };
const THREAD = { configurable: { thread_id: "talk" } };
const HELLO = { messages: [{ role: "user", content: "How is it in Bergen and Oslo?" }] };

/** An agent that works until it is released. */
async function gated() {
  const all = await world();
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  const atlas = all.agent("atlas");
  atlas.serve(LOOK_UP, async ({ input }) => {
    asked++;
    await gate.promise;
    return `all about ${(input as { town: string }).town}`;
  });
  atlas.serve({ name: "advise", takes: "conversation" }, async () => {
    asked++;
    await gate.promise;
    return "Take an umbrella.";
  });
  await atlas.start();
  return { owner: all.agent("owner"), open: () => gate.resolve(), asked: () => asked };
}

async function parkedThreads(graph: Graph): Promise<string[]> {
  return Array.fromAsync(unfinishedThreads(graph));
}

test("parked tools leave their agent in its checkpointer, beside a tool that is not parked", async () => {
  const { owner, open, asked } = await gated();
  const runs: string[] = [];
  const clock = tool(() => `noon, run ${runs.push("clock")}`, {
    name: "clock",
    description: "d",
    schema: z.object({}),
  });
  const { graph } = createAgent({
    model: usingTools(
      [
        { name: "look_up", args: { town: "Bergen" }, id: "call 1" },
        { name: "look_up", args: { town: "Oslo" }, id: "call 2" },
        { name: "clock", args: {}, id: "call 3" },
      ],
      "It rains.",
    ),
    tools: [remoteTool(owner, asPublished(LOOK_UP), { isParked: true }), clock],
    checkpointer: new MemorySaver(),
  });
  expect(isInterrupted(await graph.invoke(HELLO, THREAD))).toBe(true);
  expect(await parkedThreads(graph)).toEqual(["talk"]);
  open();
  const { messages } = (await wake(owner, graph, THREAD)) as { messages: BaseMessage[] };
  const answers = messages.filter((each) => ToolMessage.isInstance(each));
  expect(answers.map(({ tool_call_id, text }) => [tool_call_id, text])).toEqual([
    ["call 1", markedAsData("atlas", { output: "all about Bergen" })],
    ["call 2", markedAsData("atlas", { output: "all about Oslo" })],
    ["call 3", "noon, run 1"],
  ]);
  expect(messages.at(-1)!.text).toBe("It rains.");
  expect(asked()).toBe(2);
});

test("a parked member leaves its supervisor in the checkpointer", async () => {
  const { owner, open, asked } = await gated();
  const expert = remoteMember(owner, { name: "expert", capability: "advise", isParked: true });
  const graph = createSupervisor({
    agents: [expert as never],
    llm: new ScriptedModel((messages) =>
      messages.some(({ name }) => name === "expert")
        ? new AIMessage("So it is.")
        : new AIMessage({
            content: "",
            tool_calls: [{ name: "transfer_to_expert", args: {}, id: "t1", type: "tool_call" }],
          }),
    ),
  }).compile({ checkpointer: new MemorySaver() });
  expect(isInterrupted(await graph.invoke(HELLO, THREAD))).toBe(true);
  expect(await parkedThreads(graph)).toEqual(["talk"]);
  open();
  const { messages } = (await wake(owner, graph, THREAD)) as { messages: BaseMessage[] };
  expect(messages.find(({ name }) => name === "expert")?.text).toBe("Take an umbrella.");
  expect(messages.at(-1)!.text).toBe("So it is.");
  expect(asked()).toBe(1);
});

test("a parked member leaves its swarm in the checkpointer", async () => {
  const { owner, open, asked } = await gated();
  const front = createAgent({
    model: usingTools([{ name: "transfer_to_expert", args: {}, id: "t1" }]),
    tools: [createHandoffTool({ agentName: "expert" })],
    name: "front",
  });
  const expert = remoteMember(owner, { name: "expert", capability: "advise", isParked: true });
  const graph = createSwarm({
    agents: [Object.assign(front.graph, { name: "front" }) as never, expert as never],
    defaultActiveAgent: "front",
  }).compile({ checkpointer: new MemorySaver() });
  expect(isInterrupted(await graph.invoke(HELLO, THREAD))).toBe(true);
  open();
  const { messages } = (await wake(owner, graph, THREAD)) as { messages: BaseMessage[] };
  expect(messages.at(-1)).toMatchObject({ name: "expert", text: "Take an umbrella." });
  expect(asked()).toBe(1);
});

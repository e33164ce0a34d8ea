import { MemorySaver } from "@langchain/langgraph";
import { AIMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { createHandoffTool, createSwarm } from "@langchain/langgraph-swarm";
import { markedAsData } from "@waybill/agent/adapter";
import { createAgent, tool } from "langchain";
import type { AgentMiddleware } from "langchain";
import { expect, test } from "vitest";
import * as z from "zod";
import { ScriptedModel } from "../model-fixture.ts";
import { remoteTool } from "../remote-tool.ts";
import { world } from "@waybill/conformance/vitest";
import { asPublished } from "../published-fixture.ts";
import { handoffsLast } from "./handoffs-last.ts";

const LOOK_UP = { name: "look_up", input_schema: { town: "string" } };

/** A swarm whose first agent calls a remote tool and a plain one, and hands over, all in one turn. */
async function handedOver(...middleware: AgentMiddleware[]) {
  const { agent } = await world();
  const atlas = agent("atlas");
  atlas.serve<{ town: string }>(LOOK_UP, ({ input }) => `all about ${input.town}`);
  await atlas.start();
  const call = (id: string, name: string, args = {}) =>
    ({ id, name, args, type: "tool_call" }) as const;
  const calls = [
    call("call 1", "transfer_to_expert"),
    call("call 2", "look_up", { town: "Bergen" }),
    call("call 3", "clock"),
  ];
  const parts = calls.map(({ id, name }) => ({ type: "tool_use", id, name, input: {} }));
  const clock = tool(() => "it is noon", { name: "clock", description: "d", schema: z.object({}) });
  const front = createAgent({
    name: "front",
    model: new ScriptedModel(() => new AIMessage({ content: parts, tool_calls: calls })),
    tools: [
      remoteTool(agent("owner"), asPublished(LOOK_UP)),
      createHandoffTool({ agentName: "expert" }),
      clock,
    ],
    middleware: middleware as never,
  });
  let heard: readonly BaseMessage[] = [];
  const model = new ScriptedModel((messages) => {
    heard = messages;
    return new AIMessage("So it is.");
  });
  const expert = createAgent({ name: "expert", model, tools: [] });
  const member = (name: string, { graph }: { graph: object }) =>
    Object.assign(graph, { name }) as never;
  const swarm = createSwarm({
    agents: [member("front", front), member("expert", expert)],
    defaultActiveAgent: "front",
  }).compile({ checkpointer: new MemorySaver() });
  await swarm.invoke(
    { messages: [{ role: "user", content: "How is it in Bergen?" }] },
    { configurable: { thread_id: "talk" } },
  );
  return heard.map((each) => [
    each.type,
    AIMessage.isInstance(each) ? each.tool_calls!.map(({ name }) => name) : each.text,
    typeof each.content === "string" ? 0 : each.content.length,
  ]);
}

test("the next agent sees the results of all tools of the turn", async () => {
  expect(await handedOver(handoffsLast())).toEqual([
    ["human", "How is it in Bergen?", 0],
    ["ai", ["look_up", "clock"], 2],
    ["tool", markedAsData("atlas", { output: "all about Bergen" }), 0],
    ["tool", "it is noon", 0],
    ["ai", ["transfer_to_expert"], 0],
    ["tool", "Successfully transferred to expert", 0],
  ]);
});

test("without the middleware LangGraph drops them, and leaves calls without results", async () => {
  const isHandoff = () => false;
  for (const middleware of [[], [handoffsLast({ isHandoff })]]) {
    expect(await handedOver(...middleware)).toEqual([
      ["human", "How is it in Bergen?", 0],
      ["ai", ["transfer_to_expert", "look_up", "clock"], 3],
      ["tool", "Successfully transferred to expert", 0],
    ]);
  }
});

import { Annotation, MemorySaver, RunControl, START, StateGraph } from "@langchain/langgraph";
import { AIMessage } from "@langchain/core/messages";
import { ContextOverflowError } from "@langchain/core/errors";
import { textMessage } from "@waybill/agent/adapter";
import {
  createAgent,
  modelCallLimitMiddleware,
  tool,
  toolCallLimitMiddleware,
  toolStrategy,
} from "langchain";
import { expect, test } from "vitest";
import * as z from "zod";
import type { AgentOfGraph, Graph } from "./graph.ts";
import { ScriptedModel } from "./model-fixture.ts";
import { serveGraph } from "./serve.ts";
import type { GraphConfig, ServeGraphOptions } from "./serve.ts";
import { world } from "@waybill/conformance/vitest";

async function handedTo(thing: Graph | AgentOfGraph, work: object, options?: ServeGraphOptions) {
  const { agent } = await world();
  const worker = agent("worker");
  worker.serve(...serveGraph(thing, { name: "work", max_attempts: 1 }, options));
  await worker.start();
  return agent("owner").handoff({ capability: "work", ...work }).result;
}

const asked = { messages: [textMessage("user", "Weather in Bergen?")] };

const weather = tool(() => "rain", { name: "weather", description: "d", schema: z.object({}) });

/** A model that never stops calling tools. */
const restless = (...names: string[]) =>
  new ScriptedModel((messages, tools) => {
    const tool_calls = (names.length > 0 ? names : tools).map((name, index) => ({
      name,
      args: {},
      id: `call ${messages.length} ${index}`,
      type: "tool_call" as const,
    }));
    return new AIMessage({ content: "", tool_calls });
  });

const form = (name: string) => z.object({ summary: z.string() }).meta({ title: name });

test.each([
  [
    "more calls of a model than a run may make",
    508,
    /limit/i,
    () =>
      createAgent({
        model: restless(),
        tools: [weather],
        middleware: [
          modelCallLimitMiddleware({ runLimit: 2, exitBehavior: "error" } as never),
        ] as never,
      }),
  ],
  [
    "more calls of tools than a run may make",
    508,
    /limit/i,
    () =>
      createAgent({
        model: restless(),
        tools: [weather],
        middleware: [
          toolCallLimitMiddleware({ runLimit: 1, exitBehavior: "error" } as never),
        ] as never,
      }),
  ],
  [
    "more words than a model can hear",
    413,
    /context window/,
    () =>
      createAgent({
        model: new ScriptedModel(() => {
          throw new ContextOverflowError();
        }),
        tools: [],
      }),
  ],
  [
    "a form that a model has filled in wrong",
    520,
    /structured output/,
    () =>
      createAgent({
        model: restless(),
        tools: [],
        responseFormat: toolStrategy(form("Weather"), { handleError: false }),
      }),
  ],
  [
    "two forms at once",
    520,
    /multiple tools/,
    () =>
      createAgent({
        model: restless(),
        tools: [],
        responseFormat: toolStrategy([form("One"), form("Other")], { handleError: false }),
      }),
  ],
] as const)("%s is a %i", async (_, status, message, make) => {
  const error = await handedTo(make() as AgentOfGraph, asked).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status, message: expect.stringMatching(message) as string });
});

test("an invalid input is a 422", async () => {
  const graph = new StateGraph(Annotation.Root({ town: Annotation<string> }))
    .addNode("look", () => ({ town: "Bergen" }))
    .addEdge(START, "look")
    .compile();
  await expect(handedTo(graph, { input: null })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining("no input writes"),
  });
});

test("a drained graph releases its work, and the next attempt resumes it", async () => {
  const runs: string[] = [];
  const controls = [new RunControl(), new RunControl()];
  const graph = new StateGraph(Annotation.Root({ town: Annotation<string> }))
    .addNode("first", () => {
      runs.push("first");
      controls[0]!.requestDrain("SIGTERM");
      return {};
    })
    .addNode("second", () => ({ town: `Bergen, after ${runs.push("second")}` }))
    .addEdge(START, "first")
    .addEdge("first", "second")
    .compile({ checkpointer: new MemorySaver() });
  const config = ({ attempt }: { attempt: number }) =>
    ({ control: controls[attempt - 1] }) as GraphConfig;
  const { output, attempt } = await handedTo(graph, { input: {} }, { config });
  expect([output, attempt, runs]).toEqual([{ town: "Bergen, after 2" }, 2, ["first", "second"]]);
});

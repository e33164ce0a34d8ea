import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { AIMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createSupervisor } from "@langchain/langgraph-supervisor";
import { createHandoffTool, createSwarm } from "@langchain/langgraph-swarm";
import { textMessage, textOf } from "@waybill/agent/adapter";
import type { HandoffHandle, QuestionEvent } from "@waybill/agent";
import { createAgent, humanInTheLoopMiddleware, tool, toolStrategy } from "langchain";
import { expect, test } from "vitest";
import * as z from "zod";
import type { AgentOfGraph, Graph } from "./graph.ts";
import { ScriptedModel, usingTools } from "./model-fixture.ts";
import { schemasOf } from "./schemas.ts";
import { serveGraph } from "./serve.ts";
import type { ServeGraphOptions } from "./serve.ts";
import { world } from "@waybill/conformance/vitest";

/** Serves a graph, and hands work to it. */
async function served(thing: Graph | AgentOfGraph, options?: ServeGraphOptions, capability = {}) {
  const { agent, hub } = await world();
  const [worker, owner] = [agent("worker"), agent("owner")];
  worker.serve(...serveGraph(thing, { name: "work", max_attempts: 1, ...capability }, options));
  await worker.start();
  return { hub, handoff: (work: object) => owner.handoff({ capability: "work", ...work }) };
}

async function questionsOf(handle: HandoffHandle, count: number): Promise<QuestionEvent[]> {
  const questions: QuestionEvent[] = [];
  for await (const question of handle.questions) {
    if (questions.push(question) === count) break;
  }
  return questions;
}

const asked = (text: string) => ({ messages: [textMessage("user", text, "anna")] });

test("the graph's own schemas are those of its capability, and are checked", async () => {
  const graph = new StateGraph({
    state: z.object({
      topic: z.string(),
      notes: z.string().optional(),
      facts: z.array(z.string()),
    }),
    input: z.object({ topic: z.string().describe("what it is about") }),
    output: z.object({ facts: z.array(z.string()) }),
  })
    .addNode("look", ({ topic }) => ({ facts: [`${topic} is old`], notes: "for itself" }))
    .addEdge(START, "look")
    .addEdge("look", END)
    .compile();
  expect(schemasOf(graph)).toMatchObject({
    input_schema: { properties: { topic: { description: "what it is about" } } },
    output_schema: { properties: { facts: { type: "array" } } },
  });
  const { handoff } = await served(graph);
  expect((await handoff({ input: { topic: "rain" } }).result).output).toEqual({
    facts: ["rain is old"],
  });
  await expect(handoff({ input: { topic: 7 }, to: "worker" }).result).rejects.toMatchObject({
    status: 422,
  });
});

test("an agent replies to a conversation, with everything that it has said on the way", async () => {
  const weather = tool(() => "rain", {
    name: "weather",
    description: "Tells the weather.",
    schema: z.object({ in: z.string() }),
  });
  const { handoff } = await served(
    createAgent({
      model: usingTools([{ name: "weather", args: { in: "Bergen" }, id: "call_1" }], "Rain."),
      tools: [weather],
      name: "forecaster",
    }),
  );
  const { output, messages } = await handoff(asked("Weather in Bergen?")).result;
  expect(output).toBe("Rain.");
  expect(messages).toMatchObject([
    { role: "assistant", name: "forecaster", content: [{ type: "tool_call", id: "call_1" }] },
    { role: "tool", name: "weather", content: [{ type: "tool_result", output: "rain" }] },
    { role: "assistant", name: "forecaster", content: [{ type: "text", text: "Rain." }] },
  ]);
});

test("an agent with a response format is asked once more, and then it is a 520", async () => {
  const replies = ["It rains.", '{"summary":"rain"}'];
  const seen: number[] = [];
  const model = new ScriptedModel((messages) => {
    seen.push(messages.length);
    return new AIMessage(replies.shift() ?? "Still raining.");
  });
  const output_schema = { type: "object", required: ["summary"] };
  const { handoff } = await served(createAgent({ model, tools: [] }), {}, { output_schema });
  expect((await handoff(asked("Weather?")).result).output).toEqual({ summary: "rain" });
  expect(seen).toEqual([2, 4]);
  await expect(handoff(asked("Weather?")).result).rejects.toMatchObject({ status: 520 });
});

test("the structured response of an agent is its output", async () => {
  const model = new ScriptedModel((_, [name]) => {
    const args = { summary: "rain" };
    return new AIMessage({ content: "", tool_calls: [{ name: name!, args, id: "call_1" }] });
  });
  const responseFormat = toolStrategy(z.object({ summary: z.string() }));
  const { handoff } = await served(createAgent({ model, tools: [], responseFormat }));
  expect((await handoff(asked("Weather?")).result).output).toEqual({ summary: "rain" });
});

test("a supervisor and a swarm are served like any agent", async () => {
  const member = (name: string, model: ScriptedModel, tools: never[] = []) =>
    Object.assign(createAgent({ model, tools, name }).graph, { name });
  const expert = member("expert", new ScriptedModel(() => new AIMessage("Rain.")));
  const supervisor = createSupervisor({
    agents: [expert as never],
    llm: new ScriptedModel((messages) =>
      messages.some(({ name }) => name === "expert")
        ? new AIMessage("The expert says: rain.")
        : new AIMessage({
            content: "",
            tool_calls: [{ name: "transfer_to_expert", args: {}, id: "t1", type: "tool_call" }],
          }),
    ),
  }).compile();
  const first = await (await served(supervisor)).handoff(asked("Weather?")).result;
  expect(first.output).toBe("The expert says: rain.");
  const front = member("front", usingTools([{ name: "transfer_to_expert", args: {}, id: "t2" }]), [
    createHandoffTool({ agentName: "expert" }),
  ] as never[]);
  const swarm = createSwarm({
    agents: [front as never, expert as never],
    defaultActiveAgent: "front",
  }).compile();
  const second = await (await served(swarm)).handoff(asked("Weather?")).result;
  expect(second.output).toBe("Rain.");
});

test("concurrent interrupts are separate questions, each answered by its id", async () => {
  const ask = (text: string) => () => ({ said: [`${text} ${interrupt<string, string>(text)}`] });
  const said = Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] });
  const graph = new StateGraph(Annotation.Root({ said }))
    .addNode("town", ask("Which town?"))
    .addNode("day", ask("Which day?"))
    .addEdge(START, "town")
    .addEdge(START, "day")
    .compile({ checkpointer: new MemorySaver() });
  const { handoff } = await served(graph);
  const handle = handoff({ input: {} });
  const questions = await questionsOf(handle, 2);
  for (const { id, text } of questions.toReversed()) {
    await handle.answer(id, text === "Which town?" ? "Bergen" : "Monday");
  }
  const { output } = await handle.result;
  expect((output as { said: string[] }).said.toSorted()).toEqual([
    "Which day? Monday",
    "Which town? Bergen",
  ]);
});

test("a node that asks the same again gets a new answer, and not the first one", async () => {
  const graph = new StateGraph(Annotation.Root({ codes: Annotation<string[]> }))
    .addNode("ask", () => ({ codes: [1, 2, 3].map(() => interrupt<string, string>("Code?")) }))
    .addEdge(START, "ask")
    .compile({ checkpointer: new MemorySaver() });
  const { handoff } = await served(graph);
  const handle = handoff({ input: {} });
  const ids: string[] = [];
  for (const code of ["a", "b", "c"]) {
    const [question] = await questionsOf(handle, 1);
    ids.push(question!.id);
    await handle.answer(question!.id, code);
  }
  expect((await handle.result).output).toEqual({ codes: ["a", "b", "c"] });
  expect(new Set(ids).size).toBe(3);
});

test("a question has the words, the data and the schema of its interrupt", async () => {
  const graph = new StateGraph(Annotation.Root({ ok: Annotation<boolean> }))
    .addNode("ask", () => ({
      ok: interrupt<unknown, boolean>(
        { question: "Send it?", draft: "Dear Anna" },
        { responseSchema: z.boolean() },
      ),
    }))
    .addEdge(START, "ask")
    .compile({ checkpointer: new MemorySaver() });
  const handle = (await served(graph)).handoff({ input: {} });
  const [question] = await questionsOf(handle, 1);
  expect(question).toMatchObject({
    text: "Send it?",
    data: { question: "Send it?", draft: "Dear Anna" },
    schema: { type: "boolean" },
  });
  await handle.answer(question!.id, true);
  expect((await handle.result).output).toEqual({ ok: true });
});

test("an approval of LangChain is a question, and its decision the answer", async () => {
  const sent: string[] = [];
  const send = tool(({ to }) => `sent to ${sent[sent.push(to) - 1]!}`, {
    name: "send",
    description: "Sends a letter.",
    schema: z.object({ to: z.string() }),
  });
  const { handoff } = await served(
    createAgent({
      model: usingTools([{ name: "send", args: { to: "anna" }, id: "call_1" }], "It is sent."),
      tools: [send],
      middleware: [humanInTheLoopMiddleware({ interruptOn: { send: true } } as never)] as never,
      checkpointer: new MemorySaver(),
    }),
  );
  const handle = handoff(asked("Write to Anna."));
  const [question] = await questionsOf(handle, 1);
  expect(question!.data).toMatchObject({
    actionRequests: [{ name: "send", args: { to: "anna" } }],
  });
  expect(sent).toEqual([]);
  const edited = { name: "send", args: { to: "anna and ben" } };
  await handle.answer(question!.id, { decisions: [{ type: "edit", editedAction: edited }] });
  expect((await handle.result).output).toBe("It is sent.");
  expect(sent).toEqual(["anna and ben"]);
});

test("the next attempt resumes where the previous one has failed", async () => {
  const runs: string[] = [];
  const graph = new StateGraph(Annotation.Root({ fact: Annotation<string> }))
    .addNode("costly", () => ({ fact: `made in run ${runs.push("costly")}` }))
    .addNode("shaky", () => {
      if (runs.push("shaky") < 3) throw Object.assign(new Error("Not now."), { status: 503 });
      return {};
    })
    .addEdge(START, "costly")
    .addEdge("costly", "shaky")
    .compile({ checkpointer: new MemorySaver() });
  const { handoff } = await served(graph, {}, { max_attempts: 2 });
  const { output, attempt } = await handoff({ input: {} }).result;
  expect([output, attempt, runs]).toEqual([
    { fact: "made in run 1" },
    2,
    ["costly", "shaky", "shaky"],
  ]);
});

test("a run sees its thread, its handoff, its trace and what its author has set", async () => {
  const seen: unknown[] = [];
  const traces: unknown[] = [];
  const graph = new StateGraph(Annotation.Root({ ok: Annotation<boolean> }))
    .addNode("look", (_, config: LangGraphRunnableConfig) => {
      const { handoff_id, correlation_id, attempt, traceparent, tracestate } = config.metadata!;
      const { thread_id, tenant } = config.configurable!;
      seen.push(handoff_id, correlation_id, attempt, thread_id, tenant, config.context);
      traces.push(traceparent, tracestate);
      return { ok: true };
    })
    .addEdge(START, "look")
    .compile();
  const config = () => ({ configurable: { tenant: "acme", thread_id: "mine" }, context: { a: 1 } });
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const handle = (await served(graph, { config })).handoff({
    input: {},
    traceparent: `00-${trace}-b7ad6b7169203331-01`,
    tracestate: "vendor=1",
  });
  await handle.result;
  expect(traces).toEqual([expect.stringContaining(trace), "vendor=1"]);
  const { id, envelope } = handle;
  expect(seen).toEqual([id, envelope.correlation_id, 1, "mine", "acme", { a: 1 }]);
});

test("a subgraph's stream is progress too", async () => {
  const inner = new StateGraph(Annotation.Root({ ok: Annotation<boolean> }))
    .addNode("tell", (_, { writer }: LangGraphRunnableConfig) => {
      writer!({ message: "half of it", fraction: 0.5 });
      writer!(["anything"]);
      return { ok: true };
    })
    .addEdge(START, "tell")
    .compile();
  const graph = new StateGraph(Annotation.Root({ ok: Annotation<boolean> }))
    .addNode("inner", inner)
    .addEdge(START, "inner")
    .compile();
  const handle = (await served(graph)).handoff({ input: {} });
  const shown: unknown[] = [];
  for await (const { message, fraction, data } of handle.progress) {
    shown.push([message, fraction, data]);
  }
  expect(shown).toEqual([
    ["half of it", 0.5, undefined],
    [undefined, undefined, ["anything"]],
  ]);
});

const looping = () =>
  new StateGraph(Annotation.Root({ n: Annotation<number> }))
    .addNode("again", () => new Command({ goto: "again", update: { n: 1 } }), { ends: ["again"] })
    .addEdge(START, "again")
    .compile();

const slow = () =>
  new StateGraph(Annotation.Root({ n: Annotation<number> }))
    .addNode("wait", () => new Promise<never>(() => undefined), { timeout: 20 })
    .addEdge(START, "wait")
    .compile();

const unkept = () =>
  new StateGraph(Annotation.Root({ n: Annotation<number> }))
    .addNode("ask", () => ({ n: interrupt<string, number>("How many?") }))
    .addEdge(START, "ask")
    .compile();

test("nodes that fail together are one failure, with the messages of all", async () => {
  const fail = (message: string) => () => {
    throw Object.assign(new Error(message), { name: "GraphRecursionError" });
  };
  const graph = new StateGraph(Annotation.Root({ n: Annotation<number> }))
    .addNode("one", fail("too deep"))
    .addNode("other", fail("too wide"))
    .addEdge(START, "one")
    .addEdge(START, "other")
    .compile();
  const { handoff } = await served(graph);
  await expect(handoff({ input: {} }).result).rejects.toMatchObject({
    status: 508,
    message: "too deep; too wide",
  });
});

test.each([
  ["too many steps", looping, 508, /[Rr]ecursion/],
  ["a node that takes too long", slow, 504, /wait/],
  ["an interrupt that nothing keeps", unkept, 500, /checkpointer/],
])("%s has its status", async (_, make, status, message) => {
  const error = await (await served(make())).handoff({ input: {} }).result.catch((e: unknown) => e);
  expect(error).toMatchObject({ status, message: expect.stringMatching(message) as string });
});

test("a model's tokens in the graph are shown as deltas, except those marked nostream", async () => {
  const shownModel = new FakeListChatModel({ responses: ["It is old."] });
  const hidden = new FakeListChatModel({ responses: ["a note"] }).withConfig({
    tags: ["nostream"],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("reply", async ({ messages }) => {
      await hidden.invoke(messages);
      return { messages: await shownModel.invoke(messages) };
    })
    // Messages without an id, none of which may be lost.
    .addNode("add", () => ({ messages: [new AIMessage("One."), new AIMessage("Two.")] }))
    .addEdge(START, "reply")
    .addEdge("reply", "add")
    .addEdge("add", END)
    .compile();
  const { handoff } = await served(graph);
  const handle = handoff(asked("How old is it?"));
  let shown = "";
  for await (const { text } of handle.deltas) shown += text;
  const { messages } = await handle.result;
  expect(shown).toBe("It is old.");
  expect(messages.map(textOf)).toEqual(["It is old.", "One.", "Two."]);
});

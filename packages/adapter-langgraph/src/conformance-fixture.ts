/// <reference types="node" />
import { join } from "node:path";
import {
  Annotation,
  Command,
  END,
  interrupt,
  isInterrupted,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { AdapterFixture, CallRequest, OfferRequest, Played } from "@waybill/conformance";
import { wordsOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import type { Artifact, Json } from "@waybill/protocol";
import { toLangChain } from "./message-in.ts";
import { fromLangChain } from "./message-out.ts";
import { remoteNode } from "./remote-node.ts";
import { serveGraph } from "./serve.ts";

/** How the suite uses LangGraph: a graph that is served, and a node of a graph that calls. */
export const fixture: AdapterFixture = {
  adapter: "langgraph",
  module: new URL(import.meta.url),
  serve: {
    offer(request) {
      const isStructured = request.capability.takes === undefined;
      const graph = isStructured ? structured(request) : conversation(request);
      return serveGraph(graph, request.capability);
    },
  },
  call: { run: calling },
};

const Structured = Annotation.Root({
  query: Annotation<string>,
  depth: Annotation<number>,
  artifacts: Annotation<Artifact[]>,
  output: Annotation<Json>,
});

const Output = Annotation.Root({
  summary: Annotation<unknown>,
  artifacts: Annotation<Artifact[]>,
});

/** A graph with a state of its own, and the act in its only node. */
function structured({ act, folder }: OfferRequest) {
  return new StateGraph({
    state: Annotation.Root({ ...Structured.spec, ...Output.spec }),
    output: Output,
  })
    .addNode("work", async ({ query, depth, artifacts }, config) => {
      const input = { query, ...(depth === undefined ? {} : { depth }) };
      const work = { input, ...(artifacts === undefined ? {} : { artifacts }) };
      const played = await playing(act, work, config);
      const { summary } = (played.output ?? {}) as { summary?: unknown };
      return { summary, ...(played.artifacts && { artifacts: played.artifacts }) };
    })
    .addEdge(START, "work")
    .addEdge("work", END)
    .compile({ checkpointer: saverIn(folder) });
}

/** A graph that keeps messages. */
function conversation({ act, folder }: OfferRequest) {
  return new StateGraph(MessagesAnnotation)
    .addNode("reply", async ({ messages }, config) => {
      const { messages: said = [], output } = await playing(
        act,
        { messages: messages.map(fromLangChain) },
        config,
      );
      const words = output === undefined ? [] : [{ role: "assistant", content: wordsOf(output) }];
      return { messages: [...said.flatMap((each) => toLangChain(each)), ...words] };
    })
    .addEdge(START, "reply")
    .addEdge("reply", END)
    .compile({ checkpointer: saverIn(folder) });
}

function playing(
  act: OfferRequest["act"],
  work: PortableWork,
  config: LangGraphRunnableConfig,
): Promise<Played> {
  return act({
    work,
    run: config.executionInfo!.threadId!,
    traceparent: config.metadata?.["traceparent"] as string | undefined,
    signal: config.signal!,
    show: (message) => config.writer!(message),
    ask: async (_, text) => interrupt<string, Json>(text),
  });
}

const Calling = Annotation.Root({
  work: Annotation<PortableWork>,
  got: Annotation<Readonly<Record<string, Played>>>({
    reducer: (before, after) => ({ ...before, ...after }),
    default: () => ({}),
  }),
});

/** A graph with one node that calls. The thread is the run: started anew, it goes on where it was. */
async function calling(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, traceparent, signal } = request;
  const graph = new StateGraph(Calling)
    .addNode(
      step,
      remoteNode(agent, {
        handoff: ({ work: given }: typeof Calling.State) => ({
          capability: capability.name,
          to,
          timeoutMs,
          ...given,
        }),
        update: ({ output, messages, artifacts }) => ({
          got: { [step]: { output, messages, artifacts } },
        }),
      }),
    )
    .addEdge(START, step)
    .addEdge(step, END)
    .compile({ checkpointer: saverIn(request.folder) });
  const thread = { configurable: { thread_id: run }, metadata: { traceparent }, signal };
  const state = await graph.getState(thread);
  let input: unknown = state.next.length > 0 ? null : { work };
  for (;;) {
    const { got } = (await graph.getState(thread)).values as Partial<typeof Calling.State>;
    if (got?.[step] !== undefined) return got[step];
    let values: unknown;
    const stream = await graph.stream(input as null, {
      ...thread,
      durability: "sync",
      streamMode: ["custom", "values"],
    });
    for await (const [mode, chunk] of stream) {
      if (mode === "custom") request.show((chunk as { message: string }).message);
      else values = chunk;
    }
    if (!isInterrupted(values)) continue;
    const resume: Record<string, Json> = {};
    for (const { id, value } of values.__interrupt__) {
      const asked = value as { id: string; text: string };
      resume[id!] = await request.ask(asked.id, asked.text);
    }
    input = new Command({ resume });
  }
}

const savers = new Map<string, SqliteSaver>();

/** One for each folder: what is stored there outlives its process. */
function saverIn(folder: string): SqliteSaver {
  const saver = savers.get(folder) ?? new SqliteSaver(join(folder, "checkpoints.db"));
  savers.set(folder, saver);
  return saver;
}

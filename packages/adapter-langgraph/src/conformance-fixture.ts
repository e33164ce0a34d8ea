import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { AdapterFixture, OfferRequest, Played } from "@waybill/conformance";
import { wordsOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Json, Message } from "@waybill/protocol";
import { toLangChain } from "./message-in.ts";
import { fromLangChain } from "./message-out.ts";
import { calling, saverIn, talking } from "./calling-fixture.ts";
import { reportedByModel, seenByModel } from "./seen-fixture.ts";
import { serveGraph } from "./serve.ts";

/** How the suite uses LangGraph: a graph that is served, and a node of a graph that calls. */
export const fixture: AdapterFixture = {
  adapter: "langgraph",
  module: new URL(import.meta.url),
  serve: {
    names: ["reply"],
    offer(request) {
      const isStructured = request.capability.takes === undefined;
      const graph = isStructured ? structured(request) : conversation(request);
      return serveGraph(graph, request.capability);
    },
  },
  call: {
    run: (request) =>
      request.work.messages === undefined || request.work.input !== undefined
        ? calling(request)
        : talking(request),
  },
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
      const {
        messages: said = [],
        output,
        usage,
      } = await playing(act, await seenByModel(messages), config, messages.map(fromLangChain));
      if (usage !== undefined) await reportedByModel(messages, usage);
      const words = output === undefined ? [] : [{ role: "assistant", content: wordsOf(output) }];
      return { messages: [...said.flatMap(asSaid), ...words] };
    })
    .addEdge(START, "reply")
    .addEdge("reply", END)
    .compile({ checkpointer: saverIn(folder) });
}

/** As a model says it: nothing of the adapter goes along. */
function asSaid(message: Message): BaseMessage[] {
  const said = toLangChain(message);
  for (const each of said) each.additional_kwargs = {};
  return said;
}

function playing(
  act: OfferRequest["act"],
  work: PortableWork,
  config: LangGraphRunnableConfig,
  history?: readonly Message[],
): Promise<Played> {
  return act({
    work,
    history,
    run: config.executionInfo!.threadId!,
    traceparent: config.metadata?.["traceparent"] as string | undefined,
    signal: config.signal!,
    show: (message) => config.writer!(message),
    ask: async (_, text) => interrupt<string, Json>(text),
  });
}

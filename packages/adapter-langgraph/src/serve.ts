import { Command, isInterrupted } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import type { BaseMessage } from "@langchain/core/messages";
import { offerOf, outputOf, textMessage, Turns } from "@waybill/agent/adapter";
import type { Finished, Offer, Paused, Run } from "@waybill/agent/adapter";
import type { CapabilityInput } from "@waybill/protocol";
import { enterThread } from "./enter-thread.ts";
import { ERRORS, failureOfRun } from "./errors.ts";
import { graphOf, namesIn, threadOf } from "./graph.ts";
import type { AgentOfGraph, Graph } from "./graph.ts";
import { toLangChain } from "./message-in.ts";
import { answersFor, pauseOf } from "./question.ts";
import { schemasOf } from "./schemas.ts";
import { givenId, isConversation, stateOf } from "./state-in.ts";
import { finishedOf, lastWordsIn, structuredIn } from "./state-out.ts";
import { TokenListener } from "./token-listener.ts";
import { counting } from "./usage.ts";
import { withHandler } from "./with-handler.ts";

/** How a graph is served. */
export interface ServeGraphOptions {
  /**
   * More for the graph's config: its context, a recursion limit, members of `configurable`. A
   * `thread_id` in it is the thread of the run, with and without a session.
   */
  readonly config?: ((run: Run) => GraphConfig) | undefined;
}

/** The config of a graph, with the context that LangGraph gives to its nodes. */
export interface GraphConfig extends RunnableConfig {
  readonly context?: unknown;
}

/**
 * A compiled graph as a capability: a `StateGraph`, a supervisor, a swarm or an agent. With a
 * checkpointer, the next attempt resumes where the previous one was killed, and `interrupt()` is a
 * question that survives restarts. Handoffs of one session are serialized turns in one thread; without
 * a checkpointer nothing is kept of a session. Every other handoff has a thread of its own.
 *
 * @example
 * ```ts
 * agent.serve(...serveGraph(graph, { name: "research" }));
 * ```
 */
export function serveGraph(
  thing: Graph | AgentOfGraph,
  capability: CapabilityInput,
  { config }: ServeGraphOptions = {},
): Offer {
  const graph = graphOf(thing);
  const turns = new Turns();
  return offerOf({
    capability: { ...schemasOf(graph), ...capability },
    errors: ERRORS,
    names: namesIn(graph),
    run: (run) =>
      apart(async () => {
        try {
          const whole = counting(merged(configOf(run), config?.(run)), run.addUsage);
          const start = () => runGraph(graph, run, whole);
          const thread = threadIn(whole);
          // Of a session's runs only one is here; a thread of the author's own may have several.
          return await (thread === run.thread ? start() : turns.run(thread, run.signal, start));
        } catch (thrown) {
          throw failureOfRun(thrown);
        }
      }),
  });
}

/** Keeps a graph that hands off to another one in its own process from becoming its parent in LangChain. */
function apart<Value>(run: () => Promise<Value>): Promise<Value> {
  return AsyncLocalStorageProviderSingleton.runWithConfig(undefined, run, true);
}

async function runGraph(graph: Graph, run: Run, config: GraphConfig): Promise<Finished | Paused> {
  const { work, capability, handoffId, attempt, resume } = run;
  const entered = await enterThread(graph, run, config);
  const { pending, isBegun, isKept } = entered;
  const finished = (values: unknown) => finishedOf(values, { handoffId, before: entered.before });
  const lastWords = (values: unknown) => lastWordsIn(values, { handoffId, before: entered.before });
  if ("ended" in entered) {
    const { ended } = entered;
    if (!isConversation(graph, work.input)) return finished(ended);
    return { ...finished(ended), output: structuredIn(ended) ?? lastWords(ended) };
  }
  const answered = answersFor(pending, resume);
  const isAnswered = Object.keys(answered).length > 0;
  // Killed before it could ask: there is nothing to run until there is an answer.
  if (pending.length > 0 && !isAnswered) return pauseOf(pending, resume, answered);

  const goOn = isBegun ? null : stateOf(graph, run);
  const next = isAnswered ? new Command({ resume: answered }) : goOn;
  let values = await streamed(graph, next, config, run);
  if (isInterrupted(values)) {
    return pauseOf((await threadOf(graph, config)).pending, resume, answered);
  }
  if (!isConversation(graph, work.input)) return finished(values);

  const again = async (request: string) => {
    const turn = toLangChain(textMessage("user", request), givenId(handoffId, `again ${attempt}`));
    const { messages } = values as { messages: BaseMessage[] };
    values = await streamed(
      graph,
      { messages: isKept ? turn : [...messages, ...turn] },
      config,
      run,
    );
    return lastWords(values);
  };
  const output =
    structuredIn(values) ?? (await outputOf(lastWords(values), capability.output_schema, again));
  return { ...finished(values), output };
}

/** Runs a graph to its end, or until it waits, and returns its last known state. */
async function streamed(
  graph: Graph,
  input: unknown,
  config: GraphConfig,
  { progress, delta }: Run,
): Promise<unknown> {
  let values: unknown;
  const stream = await graph.stream(input, {
    ...withHandler(config, new TokenListener(delta)),
    streamMode: ["custom", "values"],
    outputKeys: graph.outputChannels,
    subgraphs: true,
  } as RunnableConfig);
  for await (const chunk of stream) {
    const [namespace, mode, payload] = chunk as [string[], "custom" | "values", unknown];
    if (mode === "custom") progress(payload);
    else if (namespace.length === 0) {
      values = isInterrupted(values) ? { ...values, ...(payload as object) } : payload;
    }
  }
  return values;
}

function configOf(run: Run): GraphConfig {
  const { handoffId, thread, correlationId, attempt, traceparent, tracestate, signal } = run;
  return {
    configurable: { thread_id: thread },
    metadata: {
      handoff_id: handoffId,
      correlation_id: correlationId,
      attempt,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(tracestate === undefined ? {} : { tracestate }),
    },
    signal,
    // Each step is on disk before the next one: the attempt after a crash resumes there.
    durability: "sync",
  } as GraphConfig;
}

function merged(own: GraphConfig, more: GraphConfig = {}): GraphConfig {
  return {
    ...more,
    ...own,
    // A thread that the author of the graph has named is kept.
    configurable: { ...own.configurable, ...more.configurable },
    metadata: { ...more.metadata, ...own.metadata },
  };
}

function threadIn({ configurable }: GraphConfig): string {
  return (configurable as { readonly thread_id: string }).thread_id;
}

import { Command, INTERRUPT } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Agent } from "@waybill/agent";
import { settle } from "@waybill/agent/adapter";
import type { Listening } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import { answering, Asked } from "./asked.ts";
import { graphOf, saverOf, threadOf } from "./graph.ts";
import type { AgentOfGraph, Graph, Pending } from "./graph.ts";
import { failureOutcome, isParked } from "./parked.ts";
import type { Outcome, Parked } from "./parked.ts";

type PendingQuestion = Pending & { readonly value: Parked };

/** How a parked graph is woken. */
export interface WakeOptions {
  /** A parked graph has no stream: the other agents' progress comes here. */
  readonly onProgress?: Listening["onProgress"];
}

/** The threads being woken in this process: LangGraph itself allows two concurrent runs of one thread. */
const waking = new WeakMap<Graph, Map<string, Promise<unknown>>>();

/**
 * Waits for what a thread is parked on, and resumes it, until it has ended or waits for somebody else;
 * returns what `invoke` would have returned. Also resumes a thread that was killed while it ran. Each
 * result is resumed by its interrupt's id, and stays at the hub until the checkpointer has it. The
 * config's signal cancels what it waits for; a stopping agent leaves everything as it is.
 */
export function wake(
  agent: Agent,
  thing: Graph | AgentOfGraph,
  config: RunnableConfig,
  { onProgress }: WakeOptions = {},
): Promise<unknown> {
  const graph = graphOf(thing);
  const thread = config.configurable?.["thread_id"] as string;
  const threads = waking.get(graph) ?? new Map<string, Promise<unknown>>();
  waking.set(graph, threads);
  const isBeingWoken = threads.get(thread);
  if (isBeingWoken !== undefined) return isBeingWoken;
  const woken = wakeThread(agent, graph, config, onProgress).finally(() => threads.delete(thread));
  threads.set(thread, woken);
  return woken;
}

/** The threads that are parked or were killed while they ran: those to `wake` after a restart. */
export async function* unfinishedThreads(thing: Graph | AgentOfGraph): AsyncGenerator<string> {
  const graph = graphOf(thing);
  const saver = saverOf(graph);
  if (saver === undefined) return;
  const threads = new Set<string>();
  const all = saver.list({ configurable: { checkpoint_ns: "" } });
  for await (const { config } of all) threads.add(config.configurable?.["thread_id"] as string);
  for (const thread of threads) {
    const { state, pending } = await threadOf(graph, { configurable: { thread_id: thread } });
    const wasKilled = pending.length === 0 && state.tasks.some(({ error }) => error === undefined);
    if (wasKilled || pending.some(({ value }) => isParked(value))) yield thread;
  }
}

async function wakeThread(
  agent: Agent,
  graph: Graph,
  given: RunnableConfig,
  onProgress: WakeOptions["onProgress"],
): Promise<unknown> {
  const config = { ...given, durability: "sync" } as RunnableConfig;
  const outcomes = new Map<string, Promise<readonly [id: string, outcome: Outcome]>>();
  let values: unknown;
  for (;;) {
    const { state, pending } = await threadOf(graph, config);
    const parked = pending.filter((each): each is PendingQuestion => isParked(each.value));
    if (parked.length > 0) {
      const heard = parked.map((each) => {
        const outcome =
          outcomes.get(each.id) ?? outcomeOf(agent, each, { signal: given.signal, onProgress });
        outcomes.set(each.id, outcome);
        return outcome;
      });
      const [id, outcome] = await Promise.race(heard);
      outcomes.delete(id);
      values = await graph.invoke(new Command({ resume: { [id]: outcome } }), config);
    } else if (pending.length === 0 && state.next.length > 0) {
      values = await graph.invoke(null, config);
    } else if (pending.length > 0) {
      return {
        ...(state.values as object),
        [INTERRUPT]: pending.map(({ id, value }) => ({ id, value })),
      };
    } else {
      // There is nothing to run, so this returns the outcome of the thread.
      return values ?? graph.invoke(null, config);
    }
  }
}

/** The outcome of a handoff that a graph is parked on: its end, or a question that the graph asks. */
async function outcomeOf(
  agent: Agent,
  { id, value }: PendingQuestion,
  listening: Omit<Listening, "onQuestion">,
): Promise<readonly [string, Outcome]> {
  const { handoff_id: handoffId, answers } = value;
  const handle = await agent.attach(handoffId, { acknowledge: "manual" });
  try {
    return [id, { result: await settle(handle, { ...listening, onQuestion: answering(answers) }) }];
  } catch (error) {
    if (error instanceof Asked) return [id, { question: error.question }];
    // An agent that stops is no end of the handoff, which goes on without it.
    if (!handle.hasEnded || !WaybillError.is(error)) throw error;
    return [id, failureOutcome(error)];
  }
}

import type { BaseCheckpointSaver, StateSnapshot } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";

/** What this adapter uses of a compiled graph, whatever its state is made of. */
export interface Graph {
  readonly checkpointer?: BaseCheckpointSaver | boolean | undefined;
  readonly channels: Readonly<Record<string, unknown>>;
  readonly outputChannels: unknown;
  readonly name?: string | undefined;
  /** The parts of the graph, by their names. */
  readonly nodes?: Readonly<Record<string, unknown>> | undefined;
  /** The graph's definition, where it was made by a `StateGraph`. */
  readonly builder?: unknown;
  invoke(input: unknown, config?: RunnableConfig): Promise<unknown>;
  stream(input: unknown, config?: RunnableConfig): Promise<AsyncIterable<unknown>>;
  getState(config: RunnableConfig): Promise<StateSnapshot>;
}

/** What `createAgent` of LangChain makes: the graph is inside. */
export interface AgentOfGraph {
  readonly graph: Graph;
}

export function graphOf(thing: Graph | AgentOfGraph): Graph {
  return "graph" in thing ? thing.graph : thing;
}

/** The names of a graph and its parts, under which members of a team speak. */
export function namesIn({ name, nodes = {} }: Graph): string[] {
  return [...(name === undefined ? [] : [name]), ...Object.keys(nodes)];
}

export function saverOf({ checkpointer }: Graph): BaseCheckpointSaver | undefined {
  return typeof checkpointer === "object" ? checkpointer : undefined;
}

/** An interrupt that waits for its value. */
export interface Pending {
  readonly id: string;
  readonly value: unknown;
  /** JSON Schema of the value it waits for, if the node has given one. */
  readonly schema: unknown;
}

/** A thread as its checkpointer has it. */
export interface Thread {
  readonly state: StateSnapshot;
  /** Including those of subgraphs: LangGraph shows them on the task that has started the subgraph. */
  readonly pending: readonly Pending[];
}

export async function threadOf(graph: Graph, config: RunnableConfig): Promise<Thread> {
  const state = await graph.getState(config);
  const { pendingWrites = [] } = (await saverOf(graph)?.getTuple(state.config)) ?? {};
  // While other tasks of its step still wait, a completed task keeps its old interrupt.
  const isDone = (task: string) =>
    pendingWrites.some(([id, channel]) => id === task && !UNDONE.has(channel));
  const pending = state.tasks
    .filter(({ id }) => !isDone(id))
    .flatMap(({ interrupts }) => interrupts)
    .map(({ id, value, response_schema: schema }) => ({ id: id!, value, schema }));
  return { state, pending };
}

/** What a task writes that has not finished. */
const UNDONE: ReadonlySet<string> = new Set([
  "__error__",
  "__error_source_node__",
  "__interrupt__",
  "__resume__",
  "__scheduled__",
]);

/** Whether the thread has a checkpoint to resume from. */
export function isStarted({ config }: StateSnapshot): boolean {
  return config.configurable?.["checkpoint_id"] !== undefined;
}

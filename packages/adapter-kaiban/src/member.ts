import type { KaibanAgentClass, KaibanTask, Worker, WorkerStore } from "./kaiban.ts";

/** What an agent of KaibanJS is asked. */
export interface KaibanAssignment {
  readonly task: KaibanTask;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** What the tasks before have come to, in words. */
  readonly context: string;
  /** Fires when the team is stopped. */
  readonly signal: AbortSignal;
}

/** Who a member of a KaibanJS team is. */
export interface MemberOptions {
  readonly name: string;
  readonly role: string;
  readonly goal: string;
}

/** What has really failed, by the store of the team: a log of KaibanJS has only its message. */
const failures = new WeakMap<object, unknown>();

export function failureIn(store: object): unknown {
  return failures.get(store);
}

const STOPPED = new Set(["STOPPING", "STOPPED"]);
const ONCE = { iterations: 1, maxAgentIterations: 1 };

/**
 * A function as an agent of KaibanJS.
 *
 * @example
 * ```ts
 * const who = { name: "counter", role: "Counter", goal: "Count words." };
 * const counter = member(Agent, who, async ({ task }) => countWords(task.description));
 * const team = new Team({ name: "newsroom", agents: [counter], tasks: [count] });
 * ```
 */
export function member<KaibanAgent>(
  Agent: KaibanAgentClass<KaibanAgent>,
  options: MemberOptions,
  work: (assignment: KaibanAssignment) => Promise<unknown>,
): KaibanAgent {
  return memberOf(Agent, options, work);
}

/** The same for a function that needs the store of its team. */
export function memberOf<KaibanAgent>(
  Agent: KaibanAgentClass<KaibanAgent>,
  { name, role, goal }: MemberOptions,
  work: (assignment: KaibanAssignment, store: WorkerStore) => Promise<unknown>,
): KaibanAgent {
  // It asks no model. Without one, KaibanJS would look for the key of one.
  const llmConfig = { provider: "openai", model: "none", apiKey: "none" };
  const agent = new Agent({ name, role, goal, background: "", llmConfig } as never);
  const worker = (agent as { agentInstance: Worker }).agentInstance;
  worker.workOnTask = async (task, inputs, context) => {
    const store = worker.store!;
    const stop = new AbortController();
    const unsubscribe = store.subscribe(() => {
      if (STOPPED.has(store.getState().teamWorkflowStatus))
        stop.abort(new DOMException("The team was stopped.", "AbortError"));
    });
    try {
      const result = await work({ task, inputs, context, signal: stop.signal }, store);
      if (!stop.signal.aborted)
        store.getState().handleAgentTaskCompleted({ agent: worker, task, result, ...ONCE });
      return { result, metadata: ONCE };
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (!stop.signal.aborted) {
        failures.set(store, thrown);
        store.getState().handleTaskError({ agent: worker, task, error });
        store.getState().handleWorkflowError(error);
      }
      return { error: error.message, metadata: ONCE };
    } finally {
      unsubscribe();
    }
  };
  return agent;
}

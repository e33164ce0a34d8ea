import type { KaibanAgentClass, KaibanTask, Worker, WorkerStore } from "./kaiban.ts";

/** What an agent of KaibanJS is asked to do. */
export interface KaibanAssignment {
  readonly task: KaibanTask;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The results of the tasks before, as text. */
  readonly context: string;
  /** Aborts when the team is stopped. */
  readonly signal: AbortSignal;
}

/** Options for a member of a KaibanJS team. */
export interface MemberOptions {
  readonly name: string;
  readonly role: string;
  readonly goal: string;
}

/** The original error by the store of its team: a KaibanJS log has only its message. */
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
  // It calls no model. Without this configuration, KaibanJS would look for an API key.
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

import type { RunnableConfig } from "@langchain/core/runnables";
import type { Run } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import { isStarted, saverOf, threadOf } from "./graph.ts";
import type { Graph, Pending } from "./graph.ts";
import { TurnsOfThread } from "./turns.ts";

type Values = Readonly<Record<string, unknown>>;

/** The state in which a run finds its thread. */
export interface Entered {
  /** The thread outlives the run. */
  readonly isKept: boolean;
  /** An earlier attempt has already added this handoff's messages to the thread. */
  readonly isBegun: boolean;
  /** The open questions of this run. */
  readonly pending: readonly Pending[];
  /** The state of the thread before this handoff, if it had one. */
  readonly before?: Values | undefined;
}

/** The turn was completed before, and others have followed it: only its values are needed. */
export interface Ended extends Entered {
  readonly ended: Values;
}

const ASK_AGAIN_AFTER_MS = 1_000;

/** Finds the thread of a run, and begins a turn in it if other handoffs have turns in it too. */
export async function enterThread(
  graph: Graph,
  run: Run,
  config: RunnableConfig,
): Promise<Entered | Ended> {
  const saver = saverOf(graph);
  if (saver === undefined) return { isKept: false, isBegun: false, pending: [] };
  const { state, pending } = await threadOf(graph, config);
  const thread = (config.configurable as { readonly thread_id: string }).thread_id;
  const { handoffId, attempt, deadline, session } = run;
  if (thread === handoffId) return { isKept: true, isBegun: isStarted(state), pending };

  const turns = new TurnsOfThread(saver, thread);
  const last = await turns.last();
  const now = checkpointOf(state.config);
  const at = (checkpoint: string) => valuesAt(graph, config, checkpoint);
  if (last?.handoffId === handoffId) {
    const before = last.base === null ? undefined : await at(last.base);
    session?.found(before !== undefined);
    const isBegun = now !== last.base;
    // A question from before this turn is obsolete.
    return { isKept: true, isBegun, pending: isBegun ? pending : [], before };
  }
  const next = attempt === 1 ? undefined : await turns.after(handoffId);
  if (next !== undefined) return over(graph, config, next.base!, session);
  if (pending.length > 0 && last !== undefined && Date.now() < last.until) {
    throw new WaybillError(
      301,
      `The conversation waits for the answer to a question of ${last.handoffId}: answer or cancel that, or wait until its deadline.`,
      { retryAfterMs: ASK_AGAIN_AFTER_MS },
    );
  }
  const before = now === null ? undefined : (state.values as Values);
  session?.found(before !== undefined);
  await turns.begin({ handoffId, base: now, until: deadline.getTime() });
  return { isKept: true, isBegun: false, pending: [], before };
}

async function over(
  graph: Graph,
  config: RunnableConfig,
  end: string,
  session: Run["session"],
): Promise<Ended> {
  const state = await graph.getState(withCheckpoint(config, end));
  if (state.next.length > 0) {
    throw new WaybillError(
      500,
      "The run was interrupted, and the conversation has continued without it. Hand the work off again, as a new turn.",
      { retryable: false },
    );
  }
  session?.found(true);
  return { isKept: true, isBegun: true, pending: [], ended: state.values as Values };
}

async function valuesAt(graph: Graph, config: RunnableConfig, checkpoint: string): Promise<Values> {
  return (await graph.getState(withCheckpoint(config, checkpoint))).values as Values;
}

function withCheckpoint(config: RunnableConfig, checkpoint_id: string): RunnableConfig {
  return { ...config, configurable: { ...config.configurable, checkpoint_id } };
}

function checkpointOf({ configurable }: RunnableConfig): string | null {
  return (configurable?.["checkpoint_id"] as string | undefined) ?? null;
}

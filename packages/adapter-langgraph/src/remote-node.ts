import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Agent, HandoffResult } from "@waybill/agent";
import { remote } from "./remote.ts";
import type { Handoff, RemoteOptions } from "./remote.ts";

/**
 * How a capability of another agent becomes a node: what is handed off, and what comes back into
 * the state.
 */
export interface RemoteNodeOptions<State, Update> extends Pick<RemoteOptions, "isParked"> {
  /** What of the state is handed off, and to whom. */
  readonly handoff: (state: State, config: LangGraphRunnableConfig) => Handoff;
  /** What of the result goes into the state. */
  readonly update: (result: HandoffResult, state: State) => Update;
}

/**
 * A node that is another agent.
 *
 * @example
 * ```ts
 * graph.addNode(
 *   "research",
 *   remoteNode(agent, {
 *     handoff: ({ topic }) => ({ capability: "web_research", input: { topic } }),
 *     update: ({ output }) => ({ findings: output }),
 *   }),
 * );
 * ```
 */
export function remoteNode<State, Update>(
  agent: Agent,
  { handoff, update, isParked }: RemoteNodeOptions<State, Update>,
): (state: State, config: LangGraphRunnableConfig) => Promise<Update> {
  return async (state, config) =>
    update(await remote(agent, () => handoff(state, config), config, { isParked }), state);
}

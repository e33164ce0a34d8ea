import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Agent, HandoffResult } from "@waybill/agent";
import { remote } from "./remote.ts";
import type { Handoff, RemoteOptions } from "./remote.ts";

export interface RemoteNodeOptions<State, Update> extends Pick<RemoteOptions, "isParked"> {
  /** What of the state is handed off, and to whom. */
  readonly handoff: (state: State, config: LangGraphRunnableConfig) => Handoff;
  /** What of the result goes into the state. */
  readonly update: (result: HandoffResult, state: State) => Update;
}

/** A node that is another agent: `graph.addNode("research", remoteNode(agent, { … }))`. */
export function remoteNode<State, Update>(
  agent: Agent,
  { handoff, update, isParked }: RemoteNodeOptions<State, Update>,
): (state: State, config: LangGraphRunnableConfig) => Promise<Update> {
  return async (state, config) =>
    update(await remote(agent, () => handoff(state, config), config, { isParked }), state);
}

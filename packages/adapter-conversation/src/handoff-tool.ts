import {
  argumentsOf,
  call,
  conversationHere,
  failureToTell,
  remoteToolCard,
  sessionFor,
  toolNameOf,
  workFrom,
} from "@waybill/agent/adapter";
import type { CallSession, OnFailure } from "@waybill/agent/adapter";
import type { Agent } from "@waybill/agent";
import type { Capability, Found, RankedCandidate } from "@waybill/protocol";
import type { Tool, ToolReply } from "./tool.ts";

/** Options for a capability of another agent as a tool of a conversation. */
export interface HandoffToolOptions {
  /** The tool's name, by default derived from the capability. */
  readonly name?: string | undefined;
  /** The agent it goes to. By default the hub picks an agent that has the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for the session of the handoff that the conversation serves,
   * or else of the conversation's run. By default, each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
  /**
   * Whether the model is told of a failure as data, which is the default, or the conversation fails
   * with it.
   */
  readonly onFailure?: OnFailure | undefined;
}

/** A capability of another agent as a tool: the model hands off work, and gets the result. */
export function handoffTool(
  agent: Agent,
  capability: Capability,
  { name, to, timeoutMs, session, onFailure = "tell" }: HandoffToolOptions = {},
): Tool {
  const { by, ...card } = remoteToolCard(capability, { name, to });
  return {
    ...card,
    parameters: argumentsOf(capability),
    async use(input, { id, run, messages, artifacts, signal, ...use }): Promise<ToolReply> {
      const { traceparent, tracestate } = use;
      try {
        const result = await call(agent, {
          step: { run, step: id },
          capability: capability.name,
          to,
          timeoutMs,
          session: sessionFor(session, conversationHere(run)),
          ...workFrom(input, capability, messages, artifacts),
          traceparent,
          tracestate,
          signal,
          onProgress: ({ message, fraction, data }) => use.progress({ message, fraction, data }),
          onQuestion: ({ id: asked, text, data, schema }) =>
            use.ask({ id: asked, text, data, schema }),
        });
        const { output, messages: said, artifacts: files, usage } = result;
        return { by: result.by, output, messages: said, artifacts: files, usage: usage?.rows };
      } catch (thrown) {
        const failure = failureToTell(thrown, onFailure, signal);
        if (failure === undefined) throw thrown;
        return { by, failure };
      }
    },
  };
}

/**
 * Handoff tools for the agents found, one for each capability. The best agent's description is
 * used; at each use the hub picks the best agent of that moment.
 */
export function handoffTools(
  agent: Agent,
  found: Found | readonly RankedCandidate[],
  options: Omit<HandoffToolOptions, "name" | "to"> = {},
): Tool[] {
  const fits = "fits" in found ? found.fits : found;
  const tools = new Map<string, Tool>();
  for (const { capability } of fits) {
    if (tools.has(capability.name)) continue;
    const taken = [...tools.values()].map((tool) => tool.name);
    const name = toolNameOf(capability.name, taken);
    tools.set(capability.name, handoffTool(agent, capability, { ...options, name }));
  }
  return [...tools.values()];
}

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

/** How a capability of another agent becomes a tool of a conversation. */
export interface HandoffToolOptions {
  /** What the model calls it; left out, after the capability. */
  readonly name?: string | undefined;
  /** The agent it goes to. Left out: the hub picks among those who have the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for that of the handoff that
   * the conversation serves, or else of the conversation's run. Left out, each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
  /** What a failure does: the model is told as data, which is the default, or the conversation ends with it. */
  readonly onFailure?: OnFailure | undefined;
}

/** What another agent can do, as a tool with which a model hands work off and gets the result. */
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
 * Handoff tools for all that was found, one a capability: the best of those who have it describes it,
 * and at each use the hub picks who is the best then.
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

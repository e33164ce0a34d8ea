import { AIMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import type { AgentMiddleware } from "langchain";

/** Which tool calls count as handoffs. */
export interface HandoffsLastOptions {
  /** Which tools hand over to another member; by default those called `transfer_to_…`. */
  readonly isHandoff?: ((toolName: string) => boolean) | undefined;
}

type Call = NonNullable<AIMessage["tool_calls"]>[number];

/** Where the calls wait that are made after the others. */
const LATER = "waybill_later";

/**
 * For an agent with handoff tools beside others. A handoff ends the agent's graph at once, and
 * LangGraph drops the results of the other tools of the same turn, remote ones too (langgraph#7129).
 * With this the others are called first, and the handoff after they have answered.
 */
export function handoffsLast({
  isHandoff = (name) => name.startsWith("transfer_to_"),
}: HandoffsLastOptions = {}): AgentMiddleware {
  return createMiddleware({
    name: "handoffs last",
    afterModel({ messages }) {
      const said = messages.at(-1);
      if (!AIMessage.isInstance(said)) return undefined;
      const { tool_calls: calls = [] } = said;
      const later = calls.filter(({ name }) => isHandoff(name));
      if (later.length === 0 || later.length === calls.length) return undefined;
      return { messages: [without(said, later)] };
    },
    beforeModel: {
      canJumpTo: ["tools"],
      hook({ messages }) {
        const said = messages.findLast((each) => AIMessage.isInstance(each));
        const later = said?.additional_kwargs[LATER] as Call[] | undefined;
        if (later === undefined) return undefined;
        return { messages: [handingOff(said!, later)], jumpTo: "tools" };
      },
    },
  }) as AgentMiddleware;
}

/**
 * The same message, by its id, without the calls that wait. The provider's own copy of the reply still
 * has them.
 */
function without(said: AIMessage, later: readonly Call[]): AIMessage {
  const { id, name, content, tool_calls = [], usage_metadata } = said;
  const kept = Object.entries(said.additional_kwargs).filter(([key]) => key !== "tool_calls");
  const ids = new Set<unknown>(later.map((call) => call.id));
  return new AIMessage({
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    content: typeof content === "string" ? content : content.filter((part) => !ids.has(part["id"])),
    tool_calls: tool_calls.filter((call) => !ids.has(call.id)),
    additional_kwargs: { ...Object.fromEntries(kept), [LATER]: [...later] },
  });
}

function handingOff({ name }: BaseMessage, later: readonly Call[]): AIMessage {
  return new AIMessage({
    content: "",
    tool_calls: [...later],
    ...(name === undefined ? {} : { name }),
  });
}

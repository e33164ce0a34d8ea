import type { ApiFailure, ModelRequest } from "./turn.ts";

/** Why the API refuses a request whose tool calls and results don't match. */
export function refusalOf({
  api,
  body,
}: Pick<ModelRequest, "api" | "body">): ApiFailure | undefined {
  const given: unknown = api === "chat" ? body?.messages : body?.input;
  if (!Array.isArray(given)) return undefined;
  return api === "chat" ? refusalOfMessages(given) : refusalOfItems(given);
}

interface ChatMessage {
  readonly role?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** The results of a message's calls must follow it immediately. */
function refusalOfMessages(messages: readonly ChatMessage[]): ApiFailure | undefined {
  let open = new Set<string>();
  for (const [
    index,
    { role, tool_calls: calls = [], tool_call_id: id = "" },
  ] of messages.entries()) {
    const param = `messages.[${index}].role`;
    if (role !== "tool") {
      if (open.size > 0) return unanswered(open, messages, index);
      open = new Set(calls.map((call) => call.id));
    } else if (!open.delete(id)) {
      const message =
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      return { status: 400, error: { message, param } };
    }
  }
  return open.size > 0 ? unanswered(open, messages, messages.length) : undefined;
}

function unanswered(
  open: ReadonlySet<string>,
  messages: readonly ChatMessage[],
  before: number,
): ApiFailure {
  const at = messages.slice(0, before).findLastIndex(({ role }) => role !== "tool");
  const message = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
  return { status: 400, error: { message, param: `messages.[${at}].role` } };
}

interface ResponseItem {
  readonly type?: string;
  readonly call_id?: string;
}

/** A result may follow its call at any distance. */
function refusalOfItems(items: readonly ResponseItem[]): ApiFailure | undefined {
  const open = new Set<string>();
  const refused = (message: string) => ({ status: 400, error: { message, param: "input" } });
  for (const { type, call_id: id = "" } of items) {
    if (type === "function_call") open.add(id);
    if (type === "function_call_output" && !open.delete(id))
      return refused(`No tool call found for function call output with call_id ${id}.`);
  }
  const [first] = open;
  return first === undefined
    ? undefined
    : refused(`No tool output found for function call ${first}.`);
}

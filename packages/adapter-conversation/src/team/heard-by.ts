import { mediaIn, mediaPart, shownToModel, messageText } from "@waybill/agent/adapter";
import type { ContentPart, Json, Message } from "@waybill/protocol";

/**
 * What was said in a team, as the model of one member is told it. Its own turns are those of the
 * assistant, with its tool calls and their results. Everything else is text of users, under the
 * names of those who said it, also the calls of other members and the results of their tools.
 * Without a name, no turn is its own.
 */
export function heardBy(name: string | undefined, messages: readonly Message[]): Message[] {
  const { own, callers } = toolUsesIn(name, messages);
  const heard: Message[] = [];
  // A model requires the results directly after its calls, so what others said in between comes
  // later.
  let held: Message[] = [];
  for (const message of messages) {
    const { role, content } = message;
    if (role === "tool") {
      const results = content.filter((part) => own.has(part));
      const others = content.filter((part) => !own.has(part));
      if (results.length > 0) heard.push({ ...message, content: results });
      if (others.length > 0) held.push(asUser({ ...message, content: others }, callers));
      continue;
    }
    heard.push(...held);
    held = [];
    const isOther = role === "assistant" && (name === undefined || message.name !== name);
    heard.push(isOther ? asUser(message, callers) : withoutOpenCalls(message, own));
  }
  return [...heard, ...held];
}

/** The member's own calls with their results, and the caller for each result. */
function toolUsesIn(name: string | undefined, messages: readonly Message[]) {
  const own = new Set<ContentPart>();
  const callers = new Map<ContentPart, string | undefined>();
  let open = new Map<string, { call: ContentPart; by: string | undefined }>();
  for (const { role, name: by, content } of messages) {
    if (role !== "tool") open = new Map();
    for (const part of content) {
      const id = String(part["id"]);
      if (role === "assistant" && part.type === "tool_call") open.set(id, { call: part, by });
      const called = open.get(id);
      if (role !== "tool" || part.type !== "tool_result" || called === undefined) continue;
      open.delete(id);
      callers.set(part, called.by);
      if (name !== undefined && called.by === name) own.add(called.call).add(part);
    }
  }
  return { own, callers };
}

function asUser(message: Message, callers: ReadonlyMap<ContentPart, string | undefined>): Message {
  const { role, content } = message;
  const caller = content.map((part) => callers.get(part)).find((each) => each !== undefined);
  const { name = role } = message;
  // What another agent has given to a tool stays marked as its data.
  const marked = content.map((part) =>
    part.type === "tool_result"
      ? { ...part, output: shownToModel(message, (part["output"] ?? null) as Json) }
      : part,
  );
  const words = messageText({ ...message, content: marked });
  const media = mediaIn(message).map(mediaPart);
  const text = words === "" && media.length > 0 ? [] : [{ type: "text", text: words }];
  return { role: "user", name: caller ?? name, content: [...text, ...media] };
}

function withoutOpenCalls(message: Message, own: ReadonlySet<ContentPart>): Message {
  const isOpen = (part: ContentPart) => part.type === "tool_call" && !own.has(part);
  if (!message.content.some(isOpen)) return message;
  const content = message.content.map((part) =>
    isOpen(part) ? { type: "text", text: messageText({ ...message, content: [part] }) } : part,
  );
  return { ...message, content };
}

import {
  base64Of,
  mediaFrom,
  shownByUsers,
  shownIn,
  toolCallPart,
  toolCallsOf,
  toolResultPart,
  toolResultsOf,
  wordsOf,
} from "@waybill/agent/adapter";
import type { Media } from "@waybill/agent/adapter";
import { parseJson, stringifyJson, WaybillError } from "@waybill/protocol";
import type { ContentPart, Json, Message } from "@waybill/protocol";
import { isObject } from "./message.ts";

/** What stands for an image, a recording or a file that AutoGen has no place for: words, or a refusal. */
export type Unshown = (media: Media) => string;

/** A worker that can't read an image says nothing at all. */
const READABLE: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

type Members = { readonly [member: string]: Json };

/**
 * Messages as AutoGen's own. None becomes a `SystemMessage`: what comes from elsewhere instructs no model.
 * AutoGen shows images in turns of users alone.
 */
export function llmMessagesOf(messages: readonly Message[], unshown: Unshown): Json[] {
  const tools = new Map(messages.flatMap(toolCallsOf).map(({ id, name }) => [id, name] as const));
  return shownByUsers(messages).flatMap((message): Json[] => {
    if (message.role === "tool") return [resultsIn(message, tools)];
    if (message.role === "assistant") return [replyIn(message, unshown)];
    return userTurns(message, unshown);
  });
}

/** Words and images apart: AutoGen can't read a `UserMessage` that has both, though it writes them. */
function userTurns(message: Message, unshown: Unshown): Json[] {
  const source = message.name ?? "user";
  const images: Json[] = [];
  const words: string[] = [];
  for (const each of shownIn(message)) {
    if (typeof each === "string") {
      words.push(each);
      continue;
    }
    const data = READABLE.has(each.media_type) ? base64Of(each) : undefined;
    if (data === undefined) words.push(unshown(each));
    else images.push({ data });
  }
  const turn = (content: Json): Json => ({ type: "UserMessage", content, source });
  return [
    ...(words.length === 0 && images.length > 0 ? [] : [turn(words.join("\n"))]),
    ...(images.length === 0 ? [] : [turn(images)]),
  ];
}

function replyIn(message: Message, unshown: Unshown): Json {
  const source = message.name ?? "assistant";
  const words = shownIn(message)
    .map((each) => (typeof each === "string" ? each : unshown(each)))
    .join("\n");
  const calls = toolCallsOf(message).map(({ id, name, arguments: given }) => ({
    id,
    name,
    arguments: stringifyJson(given),
  }));
  if (calls.length === 0) return { type: "AssistantMessage", content: words, source };
  const thought = words === "" ? null : words;
  return { type: "AssistantMessage", content: calls, thought, source };
}

function resultsIn(message: Message, tools: ReadonlyMap<string, string>): Json {
  const content = toolResultsOf(message).map(({ id, output }) => ({
    call_id: id,
    name: message.name ?? tools.get(id) ?? "tool",
    content: wordsOf(output),
    is_error: null,
  }));
  return { type: "FunctionExecutionResultMessage", content };
}

/** AutoGen's messages as those of a handoff. */
export function messagesIn(given: Json): Message[] {
  if (!Array.isArray(given)) throw unreadable(given);
  return given.flatMap((each) => {
    const read = isObject(each) ? READERS.get(each["type"])?.(each) : undefined;
    if (read === undefined) throw unreadable(each);
    return read;
  });
}

const READERS = new Map<Json | undefined, (message: Members) => Message[]>(
  Object.entries({
    SystemMessage: ({ content = null }: Members) => [{ role: "system", content: partsOf(content) }],
    UserMessage: ({ content = null, source = null }: Members) => [
      { role: "user", ...nameOf(source, "user"), content: partsOf(content) },
    ],
    AssistantMessage: ({ content = null, source = null, thought = null }: Members) => [
      {
        role: "assistant",
        ...nameOf(source, "assistant"),
        content: [...(thought === null ? [] : partsOf(thought)), ...partsOf(content)],
      },
    ],
    FunctionExecutionResultMessage: ({ content = null }: Members) =>
      listOf(content).map(({ call_id: id = "", name = null, content: output = null }) => ({
        role: "tool",
        ...nameOf(name, ""),
        content: [toolResultPart({ id: wordsOf(id), output })],
      })),
  }),
);

function nameOf(source: Json, role: string): { name?: string } {
  return typeof source !== "string" || source === "" || source === role ? {} : { name: source };
}

function partsOf(content: Json): ContentPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return listOf(content, true).map((each) => {
    if (typeof each === "string") return { type: "text", text: each };
    const { data, id = "", name, arguments: given } = each;
    // AutoGen's Image is a PNG whatever it was read from.
    if (typeof data === "string") {
      return mediaFrom({ type: "image", source: `data:image/png;base64,${data}` });
    }
    if (typeof name !== "string" || typeof given !== "string") throw unreadable(each);
    return toolCallPart({ id: wordsOf(id), name, arguments: argumentsIn(given) });
  });
}

/** A model may have written arguments that are no JSON. */
function argumentsIn(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function listOf(content: Json): Members[];
function listOf(content: Json, takesTexts: true): (Members | string)[];
function listOf(content: Json, takesTexts = false): (Members | string)[] {
  if (!Array.isArray(content)) throw unreadable(content);
  return content.map((each) => {
    if (isObject(each) || (takesTexts && typeof each === "string")) return each;
    throw unreadable(each);
  });
}

function unreadable(given: Json): WaybillError {
  const found = stringifyJson(given).slice(0, 80);
  return new WaybillError(
    422,
    `A conversation of AutoGen is a list of LLMMessage, and this can't be read as one: ${found}`,
  );
}

import type { ContentPart, Json, Message } from "@waybill/protocol";
import { wordsOf } from "./json-text.ts";
import { textOf, toolCallsOf } from "./message.ts";
import { pairsIn, messageText, messageTextWithMedia } from "./speech.ts";

/** What a conversation asks for, and what else was said in it. */
export interface Stated {
  /** The task in words, as a person or a planner stated it; empty if nobody has said anything. */
  readonly task: string;
  /** What was said before the turn that states it. */
  readonly before: readonly Message[];
  /** What was said after it. */
  readonly since: readonly Message[];
}

/** The names that frameworks give to the tools by which one agent hands over to another. */
const TRANSFER_TOOL = /^(?:transfer|hand_?off|delegate)(?:_back)?_to_/i;

/** The text that frameworks themselves write when one agent hands over to another. */
const TRANSFER_WORDS: readonly RegExp[] = [
  // LangGraph's supervisor and swarm.
  /^successfully transferred (?:back )?to \S+$/i,
  /^transferring back to \S+$/i,
  // The OpenAI Agents SDK.
  /^\{\s*"assistant"\s*:\s*"[^"]*"\s*\}$/,
  // A Swarm of AutoGen.
  /^transferred to (\S+), adopting the role of \1 immediately\.$/i,
];

/**
 * Finds the task that a conversation states: the last turn of a user, together with what a planner
 * says when it hands over, in the turn that calls the transfer tool or in that call's arguments. The
 * transfer itself is neither a task nor speech: its calls, their results and the framework's text
 * about it are left out.
 */
export function statedIn(messages: readonly Message[]): Stated {
  const transfers = transfersIn(messages);
  const turns = messages.map((message) => turnOf(message, transfers));
  const asked = turns.findLastIndex(
    ({ said }) => said?.role === "user" && messageText(said) !== "",
  );
  const at =
    asked === -1 ? turns.findLastIndex(({ said }) => said && messageText(said) !== "") : asked;
  const said = (some: readonly Turn[]) => some.flatMap((turn) => turn.said ?? []);
  if (at === -1) return { task: "", before: [], since: [] };
  const later = turns.slice(at + 1);
  // Everything after a transfer was said by its target: the plan was meant for that one.
  const last = later.findLastIndex(
    ({ isTransfer, said: words }) => isTransfer || (words !== undefined && words.role !== "tool"),
  );
  const plan = later[last]?.plan ?? [];
  if (plan.length > 0) later[last] = withoutText(later[last]!);
  return {
    task: [messageTextWithMedia(turns[at]!.said!), ...plan].join("\n\n"),
    before: said(turns.slice(0, at)),
    since: said(later),
  };
}

/** A conversation without the transfers. */
export function withoutTransfers(messages: readonly Message[]): Message[] {
  const transfers = transfersIn(messages);
  return messages.flatMap((message) => turnOf(message, transfers).said ?? []);
}

/** A turn without its transfers. */
interface Turn {
  readonly said: Message | undefined;
  readonly isTransfer: boolean;
  /** What a planner says when it hands over: its text, and the arguments of the call. */
  readonly plan: readonly string[];
}

function turnOf(message: Message, transfers: ReadonlySet<ContentPart>): Turn {
  const content = message.content.filter(
    (part) => !transfers.has(part) && !(part.type === "text" && saysTransfer(part.text)),
  );
  const isSame = content.length === message.content.length;
  const rest = isSame ? message : { ...message, content };
  const calls = toolCallsOf({
    ...message,
    content: message.content.filter((part) => transfers.has(part)),
  });
  const words = textOf(rest);
  const plan = [
    ...(words === "" ? [] : [words]),
    ...calls.flatMap((call) => wordsIn(call.arguments)),
  ];
  return {
    said: content.length === 0 && !isSame ? undefined : rest,
    isTransfer: calls.length > 0,
    plan: calls.length === 0 ? [] : plan,
  };
}

function withoutText(turn: Turn): Turn {
  const content = turn.said?.content.filter(({ type }) => type !== "text") ?? [];
  return { ...turn, said: content.length === 0 ? undefined : { ...turn.said!, content } };
}

/** The only text among the arguments, or all arguments as JSON. */
function wordsIn(given: Json): string[] {
  const values = typeof given === "object" && given !== null ? Object.values(given) : [given];
  if (values.length === 0) return [];
  const [only] = values;
  return [values.length === 1 && typeof only === "string" ? only : JSON.stringify(given)];
}

/** The calls of transfer tools and their results, recognized by the tool's name or by its result. */
function transfersIn(messages: readonly Message[]): ReadonlySet<ContentPart> {
  const found = new Set<ContentPart>();
  for (const [call, result] of pairsIn(messages)) {
    const isNamed = TRANSFER_TOOL.test(String(call["name"]));
    if (isNamed || saysTransfer(wordsOf((result["output"] ?? "") as Json)))
      found.add(call).add(result);
  }
  return found;
}

function saysTransfer(text = ""): boolean {
  return TRANSFER_WORDS.some((pattern) => pattern.test(text.trim()));
}

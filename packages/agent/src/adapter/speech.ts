import type { ContentPart, Message } from "@waybill/protocol";
import { mediaFromHost, mediaFromHostOrWords } from "./host-parts.ts";
import { mediaIn, mediaInWords } from "./media.ts";
import { textOf, toolCallsOf, toolResultsOf } from "./message.ts";
import { keyOf, OwnNames, speakerName } from "./speaker.ts";

/**
 * A message of another agent's result as that agent's speech: whatever role, name and tool calls the
 * agent has given it, a framework has it as words of the assistant, under the name that the agent has
 * there. Tool calls and tool results become words, so that nothing carries them out or takes them for
 * answers. The message itself is for code alone, and must never become a message of a framework again.
 */
export function speechOf(message: Message, name: string): Message {
  const { role: _, content, ...others } = message;
  const said = inWords(content, () => true).map(mediaFromHostOrWords);
  return { ...others, role: "assistant", name, content: said };
}

/** Whose account a history is, and who takes part where it is read. */
export interface HistoryOptions {
  /** The agent that has sent it. */
  readonly by: string;
  /** What the recipient and its parts are called: others' words never stand under these names. */
  readonly names?: readonly string[] | undefined;
}

/**
 * A history that came with a handoff, as its recipient's framework may have it. All of it is the
 * delegator's account. Instructions in it are words of a user, because only the recipient's own are
 * instructions. A turn of the assistant without a name is the delegator's: without one it would read as
 * what the recipient has said itself. A tool call stays one where its result follows, and a result where
 * its call came before; any other becomes words, so that no call is carried out and no result answers a
 * call of the recipient's own. Names are one line each. Where a name is that of the recipient or of one
 * of its parts, in whatever way it is written, it says whose account this is. Images, recordings and
 * files that are spelled as a model's host does are media, and such as lie with a host are refused.
 */
export function historyFrom(
  received: readonly Message[],
  { by, names = [] }: HistoryOptions,
): Message[] {
  const messages = received.map((message) => ({
    ...message,
    content: message.content.map(mediaFromHost),
  }));
  const paired = new Set([...pairsIn(messages)].flat());
  const whose: Whose = { by, own: new OwnNames(names) };
  const history: Message[] = [];
  // Nothing may stand between a tool call and its results, so words from there come after them.
  let held: Message[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const { answers, words } = sortedOut(message, paired, whose);
      history.push(...answers);
      held.push(...words);
      continue;
    }
    history.push(...held, asAccount(message, paired, whose));
    held = [];
  }
  return withDistinctCalls([...history, ...held]);
}

/**
 * A history in which no two tool calls have one id. Each of those who have spoken in it may have counted
 * from one, and a framework that looks for the result of a call would find another's.
 */
export function withDistinctCalls(messages: readonly Message[]): Message[] {
  const used = new Set<string>();
  const renamed = new Map<ContentPart, ContentPart>();
  for (const [call, result] of pairsIn(messages)) {
    const id = distinctId(String(call["id"]), used);
    used.add(id);
    if (id === call["id"]) continue;
    renamed.set(call, { ...call, id });
    renamed.set(result, { ...result, id });
  }
  if (renamed.size === 0) return [...messages];
  return messages.map((message) =>
    message.content.some((part) => renamed.has(part))
      ? { ...message, content: message.content.map((part) => renamed.get(part) ?? part) }
      : message,
  );
}

/** An id that nobody has used, which is the same whenever the same ids come in the same order. */
export function distinctId(id: string, used: ReadonlySet<string>): string {
  let distinct = id;
  for (let count = 2; used.has(distinct); count++) distinct = `${id}.${count}`;
  return distinct;
}

interface Whose {
  readonly by: string;
  readonly own: OwnNames;
}

/** Of a tool's turn what answers a call of the history, and the rest in words. */
function sortedOut(message: Message, paired: ReadonlySet<ContentPart>, whose: Whose) {
  const kept = message.content.filter((part) => paired.has(part));
  const loose = message.content.filter((part) => !paired.has(part));
  const named = { ...message, ...speakerOf(message, whose) };
  if (kept.length > 0 && loose.length === 0) return { answers: [named], words: [] };
  const answers = kept.length === 0 ? [] : [{ ...named, content: kept }];
  return { answers, words: [userTurn({ role: "user", content: loose }, whose)] };
}

function asAccount(message: Message, paired: ReadonlySet<ContentPart>, whose: Whose): Message {
  const { role, content } = message;
  if (role === "system" || role === "developer") return userTurn(message, whose);
  const words = inWords(content, (part) => !paired.has(part));
  return { ...message, ...speakerOf(message, whose), content: words };
}

function userTurn(turn: Message, whose: Whose): Message {
  const { name = whose.by, content } = turn;
  const user: Message = { ...turn, role: "user", name, content: inWords(content, () => true) };
  return { ...user, ...speakerOf(user, whose) };
}

/** Under which name a turn stands. A user and a tool need none, unless their roles are names here. */
function speakerOf({ role, name = "" }: Message, { by, own }: Whose): Pick<Message, "name"> {
  const fit = speakerName(name);
  if (name === "" && role !== "assistant" && !own.has(role)) return {};
  const speaker = fit === "" ? speakerName(by) : fit;
  const isPosing = own.has(speaker) || ROLES[role].includes(keyOf(speaker));
  return { name: isPosing ? own.apart(speaker, by) : speaker };
}

/** As what nobody speaks who has a role: there are readers to whom a role is a word like a name. */
const ROLES: Readonly<Record<Message["role"], readonly string[]>> = {
  system: [],
  developer: [],
  user: ["system", "developer"],
  assistant: ["system", "developer", "user"],
  tool: ["system", "developer", "user"],
};

/** Each tool call of the assistant with the first result that follows it at once. */
export function pairsIn(messages: readonly Message[]): ReadonlyMap<ContentPart, ContentPart> {
  const open = new Map<string, ContentPart>();
  const pairs = new Map<ContentPart, ContentPart>();
  for (const { role, content } of messages) {
    // A model's host refuses a call whose result comes later.
    if (role !== "tool" && role !== "assistant") open.clear();
    for (const part of content) {
      const id = String(part["id"]);
      if (role === "assistant" && part.type === "tool_call") open.set(id, part);
      const call = open.get(id);
      if (role !== "tool" || part.type !== "tool_result" || call === undefined) continue;
      open.delete(id);
      pairs.set(call, part);
    }
  }
  return pairs;
}

/** Tool calls and results as words, where they can't stay what they are. */
function inWords(
  content: readonly ContentPart[],
  isWords: (part: ContentPart) => boolean,
): ContentPart[] {
  return content.map((part) => {
    const words = isWords(part) ? toolWordsOf(part) : undefined;
    return words === undefined ? part : { type: "text", text: words };
  });
}

/** A message in words, its tool calls and their results too. */
export function spoken(message: Message): string {
  const text = textOf(message);
  const used = message.content.flatMap((part) => toolWordsOf(part) ?? []);
  return [...(text === "" ? [] : [text]), ...used].join(" ");
}

/** The same, with what it shows by type and name: for a reader to whom nothing is shown. */
export function told(message: Message): string {
  const said = spoken(message);
  return [...(said === "" ? [] : [said]), ...mediaIn(message).map(mediaInWords)].join(" ");
}

/**
 * A message as a line of what was said, under who said it. Where it is several lines, the others stand
 * further in: no message can spell another's.
 */
export function lineOf(message: Message): string {
  return `${speakerName(message.name ?? "") || message.role}: ${told(message).replaceAll("\n", "\n  ")}`;
}

/** A tool call or a result as it is told in words; undefined where a part is neither. */
function toolWordsOf(part: ContentPart): string | undefined {
  const message: Message = { role: "assistant", content: [part] };
  const [call] = toolCallsOf(message);
  if (call !== undefined) return `[calls ${call.name} with ${JSON.stringify(call.arguments)}]`;
  const [result] = toolResultsOf(message);
  if (result === undefined) return undefined;
  const { output } = result;
  return `[result ${typeof output === "string" ? output : JSON.stringify(output)}]`;
}

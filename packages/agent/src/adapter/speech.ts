import type { ContentPart, Message } from "@waybill/protocol";
import { mediaFromHost, mediaFromHostOrWords } from "./host-parts.ts";
import { mediaIn, mediaInWords } from "./media.ts";
import { textOf, toolCallsOf, toolResultsOf } from "./message.ts";
import { keyOf, OwnNames, speakerName } from "./speaker.ts";

/**
 * A message of another agent's result as that agent's speech. Whatever role, name and tool calls it
 * claims, the framework gets it as text of the assistant, under the name of the other agent. Tool
 * calls and tool results become text, so that nothing executes them or takes them for answers. The
 * message itself is for code only, and must never become a message of a framework again.
 */
export function speechOf(message: Message, name: string): Message {
  const { role: _, content, ...others } = message;
  const said = inWords(content, () => true).map(mediaFromHostOrWords);
  return { ...others, role: "assistant", name, content: said };
}

/** Whose account a history is, and who takes part where it is read. */
export interface HistoryOptions {
  /** The agent that sent it. */
  readonly by: string;
  /** The names of the recipient and its parts. Other speakers never appear under these names. */
  readonly names?: readonly string[] | undefined;
}

/**
 * Makes a received history safe for the recipient's framework. All of it is the delegator's account.
 * Instructions become text of a user, because only the recipient's own are instructions. A turn of the
 * assistant without a name gets the delegator's: otherwise it would read as the recipient's own words.
 * A tool call stays a tool call if its result follows, and a result stays a result if its call came
 * before; any other becomes text, so that no call is executed and no result answers one of the
 * recipient's own calls. Names are single lines. A name that matches the recipient or one of its
 * parts, in whatever spelling, says whose account this is. Images, recordings and files in a model
 * provider's format become media, and references to files stored at the provider are refused.
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
  const whose: SpeakerContext = { by, own: new OwnNames(names) };
  const history: Message[] = [];
  // Nothing may stand between a tool call and its results, so their text follows after them.
  let held: Message[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const { answers, words } = splitToolTurn(message, paired, whose);
      history.push(...answers);
      held.push(...words);
      continue;
    }
    history.push(...held, attributed(message, paired, whose));
    held = [];
  }
  return withDistinctCalls([...history, ...held]);
}

/**
 * Gives every tool call of a history an id of its own. Several speakers may each have counted from
 * one, and a framework that looks up a call's result would find another's.
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

/** An unused id. It is deterministic: the same ids in the same order give the same one. */
export function distinctId(id: string, used: ReadonlySet<string>): string {
  let distinct = id;
  for (let count = 2; used.has(distinct); count++) distinct = `${id}.${count}`;
  return distinct;
}

interface SpeakerContext {
  readonly by: string;
  readonly own: OwnNames;
}

/** The parts of a tool's turn that answer a call of the history; the rest becomes text. */
function splitToolTurn(message: Message, paired: ReadonlySet<ContentPart>, whose: SpeakerContext) {
  const kept = message.content.filter((part) => paired.has(part));
  const loose = message.content.filter((part) => !paired.has(part));
  const named = { ...message, ...speakerOf(message, whose) };
  if (kept.length > 0 && loose.length === 0) return { answers: [named], words: [] };
  const answers = kept.length === 0 ? [] : [{ ...named, content: kept }];
  return { answers, words: [userTurn({ role: "user", content: loose }, whose)] };
}

function attributed(
  message: Message,
  paired: ReadonlySet<ContentPart>,
  whose: SpeakerContext,
): Message {
  const { role, content } = message;
  if (role === "system" || role === "developer") return userTurn(message, whose);
  const words = inWords(content, (part) => !paired.has(part));
  return { ...message, ...speakerOf(message, whose), content: words };
}

function userTurn(turn: Message, whose: SpeakerContext): Message {
  const { name = whose.by, content } = turn;
  const user: Message = { ...turn, role: "user", name, content: inWords(content, () => true) };
  return { ...user, ...speakerOf(user, whose) };
}

/**
 * The name under which a turn appears. A user or a tool needs none, unless its role is a participant's
 * name here.
 */
function speakerOf(
  { role, name = "" }: Message,
  { by, own }: SpeakerContext,
): Pick<Message, "name"> {
  const fit = speakerName(name);
  if (name === "" && role !== "assistant" && !own.has(role)) return {};
  const speaker = fit === "" ? speakerName(by) : fit;
  const isPosing = own.has(speaker) || ROLES[role].includes(keyOf(speaker));
  return { name: isPosing ? own.apart(speaker, by) : speaker };
}

/** Renames a speaker whose name is a role: some readers take a role for a name. */
const ROLES: Readonly<Record<Message["role"], readonly string[]>> = {
  system: [],
  developer: [],
  user: ["system", "developer"],
  assistant: ["system", "developer", "user"],
  tool: ["system", "developer", "user"],
};

/** Each tool call of the assistant with the first result that directly follows it. */
export function pairsIn(messages: readonly Message[]): ReadonlyMap<ContentPart, ContentPart> {
  const open = new Map<string, ContentPart>();
  const pairs = new Map<ContentPart, ContentPart>();
  for (const { role, content } of messages) {
    // A model provider refuses a call whose result comes later.
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

/** Converts tool calls and results to text where they can't stay what they are. */
function inWords(
  content: readonly ContentPart[],
  isWords: (part: ContentPart) => boolean,
): ContentPart[] {
  return content.map((part) => {
    const words = isWords(part) ? toolWordsOf(part) : undefined;
    return words === undefined ? part : { type: "text", text: words };
  });
}

/** A message as text, including its tool calls and their results. */
export function messageText(message: Message): string {
  const text = textOf(message);
  const used = message.content.flatMap((part) => toolWordsOf(part) ?? []);
  return [...(text === "" ? [] : [text]), ...used].join(" ");
}

/** The same, with its media by type and name, for a reader that can't be shown them. */
export function messageTextWithMedia(message: Message): string {
  const said = messageText(message);
  return [...(said === "" ? [] : [said]), ...mediaIn(message).map(mediaInWords)].join(" ");
}

/**
 * A message as a line of the conversation, under its speaker's name. Further lines are indented, so
 * that no message can imitate another's line.
 */
export function lineOf(message: Message): string {
  return `${speakerName(message.name ?? "") || message.role}: ${messageTextWithMedia(message).replaceAll("\n", "\n  ")}`;
}

/** A tool call or a result as text; undefined for any other part. */
function toolWordsOf(part: ContentPart): string | undefined {
  const message: Message = { role: "assistant", content: [part] };
  const [call] = toolCallsOf(message);
  if (call !== undefined) return `[calls ${call.name} with ${JSON.stringify(call.arguments)}]`;
  const [result] = toolResultsOf(message);
  if (result === undefined) return undefined;
  const { output } = result;
  return `[result ${typeof output === "string" ? output : JSON.stringify(output)}]`;
}

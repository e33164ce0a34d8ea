import { equal, fail } from "node:assert/strict";
import { textOf, toolCallsOf, toolResultsOf, wordsOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Json, Message } from "@waybill/protocol";
import type { AdapterFixture } from "./fixture.ts";

/**
 * Whether what was seen is this history in order: who spoke, what they said, which tools were called
 * with which arguments, and their results. Where a framework has no field for a name or a tool call,
 * it is in the text.
 */
export function tellsHistory(
  seen: PortableWork,
  history: readonly Message[],
  { hasNoRoles = false }: Pick<AdapterFixture, "hasNoRoles"> = {},
): void {
  const told = spelled(seen);
  let from = 0;
  for (const [index, message] of history.entries()) {
    const [first = "", ...others] = piecesOf(message);
    const missing = (piece: string) =>
      fail(`"${piece}", in turn ${index} of the history, was not seen: ${told}`);
    // The last request is the task, for which a framework may have a field of its own.
    const isTask = index === history.length - 1;
    const at = told.indexOf(first, isTask ? 0 : from);
    if (at === -1) missing(first);
    // A name precedes the text. A tool's result is identified by its call.
    const { name, role } = message;
    const before = isTask ? told : told.slice(from, at);
    if (name !== undefined && role !== "tool" && !before.includes(name)) missing(name);
    from = at + first.length;
    for (const piece of others) {
      const next = told.indexOf(piece, from);
      if (next === -1) missing(piece);
      from = next + piece.length;
    }
    if (!hasNoRoles) assertRole(seen.messages ?? [], message);
  }
}

/** A turn that is shown with a framework's own role has the role that was sent. */
function assertRole(seen: readonly Message[], { role, content }: Message): void {
  const [text] = content.flatMap((part) => (part.type === "text" ? [part.text!] : []));
  if (text === undefined) return;
  // If a whole history is one text, its turns have no roles of a framework.
  const shown = seen.filter((each) => textOf(each).includes(text));
  const [own] = shown;
  if (seen.length < 2 || own === undefined) return;
  equal(own.role, role, `"${text}" was said by the ${role}, and is seen as ${own.role}`);
}

function piecesOf(message: Message): string[] {
  return [
    ...message.content.flatMap((part) => (part.type === "text" ? [part.text!] : [])),
    ...toolCallsOf(message).flatMap((call) => [call.name, ...leavesOf(call.arguments)]),
    ...toolResultsOf(message).flatMap((result) => leavesOf(result.output)),
  ];
}

/** Names and values in JSON that are the same in every spelling of the whole. */
function leavesOf(value: Json): string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return Object.entries(value).flatMap(([name, each]) => [name, ...leavesOf(each)]);
}

/** Everything that was seen, turn after turn, as one text. */
function spelled({ messages = [], brief, input }: PortableWork): string {
  const turns = messages.map((message) => [
    message.name ?? "",
    textOf(message),
    ...toolCallsOf(message).map(({ name, arguments: given }) => `${name} ${wordsOf(given)}`),
    ...toolResultsOf(message).map(({ output }) => wordsOf(output)),
  ]);
  const others = [brief?.instruction ?? "", input === undefined ? "" : wordsOf(input)];
  return [...turns.flat(), ...others].join("\n");
}

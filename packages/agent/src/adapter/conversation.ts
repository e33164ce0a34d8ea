import { WaybillError } from "@waybill/protocol";
import type { HandoffResult } from "../delegating/ending.ts";
import type { Brief, JsonSchema, Message } from "@waybill/protocol";
import { wordsOf } from "./json-text.ts";
import { mediaIn, mediaInWords } from "./media.ts";
import { textMessage, textOf } from "./message.ts";
import type { PortableWork } from "./portable.ts";
import { takesText } from "./schema.ts";
import { lineOf, speechOf } from "./speech.ts";
import { statedIn, withoutTransfers } from "./stated.ts";

/**
 * The work as a conversation: its history unchanged, then the request as the last turn of a user. If
 * the output needs a certain form, that turn states it.
 */
export function conversationOf(work: PortableWork, output: JsonSchema = true): Message[] {
  const { messages = [] } = work;
  const asked = [...askedIn(work), ...formOf(output)].join("\n\n");
  if (asked !== "") return [...messages, textMessage("user", asked)];
  if (messages.length > 0) return messages;
  throw nothingAsked();
}

/**
 * The work as a task: the request in words, with everything said before as context. Without a brief or
 * input the task is what the conversation states.
 */
export function briefOf(work: PortableWork, output: JsonSchema = true): Brief {
  const { brief, messages = [], input } = work;
  const expected = [brief?.expected_output ?? [], formOf(output)].flat().join("\n\n");
  const isAsked = brief !== undefined || input !== undefined;
  const { task, before, since } = isAsked
    ? { task: "", before: withoutTransfers(messages), since: [] }
    : statedIn(messages);
  const instruction = [
    ...(brief === undefined ? [] : [brief.instruction]),
    ...(input === undefined ? [] : [wordsOf(input)]),
    ...(task === "" ? [] : [task]),
    ...(before.length === 0 ? [] : [`What was said before:\n${before.map(lineOf).join("\n")}`]),
    ...(since.length === 0 ? [] : [`What was said since:\n${since.map(lineOf).join("\n")}`]),
  ].join("\n\n");
  if (instruction === "") throw nothingAsked();
  return expected === "" ? { instruction } : { instruction, expected_output: expected };
}

/**
 * A result as turns of the conversation that asked for it: one for each of its messages in order, or
 * one with its output. All of them are the other agent's speech, under its name in that conversation.
 * Code finds the received messages in `result.messages`.
 */
export function repliesOf(
  { messages, output }: Pick<HandoffResult, "messages" | "output">,
  name: string,
): Message[] {
  if (messages.length > 0) return messages.map((message) => speechOf(message, name));
  return output === undefined ? [] : [textMessage("assistant", wordsOf(output), name)];
}

/**
 * A result as one text, for a framework whose tools answer in text. Media in messages are described by
 * type and name; an output that is not text stays JSON.
 */
export function wordsOfResult({
  messages,
  output,
}: Pick<HandoffResult, "messages" | "output" | "by">): string {
  if (output !== undefined && typeof output !== "string") return wordsOf(output);
  const said = messages.filter(({ role }) => role === "assistant").map(textOf);
  const words = output === undefined ? said.filter((each) => each !== "") : [output];
  return [...words, ...messages.flatMap(mediaIn).map(mediaInWords)].join("\n");
}

function askedIn({ brief, input }: PortableWork): string[] {
  return [
    ...(brief === undefined ? [] : [brief.instruction]),
    ...(brief?.expected_output === undefined ? [] : [`Expected: ${brief.expected_output}`]),
    ...(input === undefined ? [] : [wordsOf(input)]),
  ];
}

/** The sentence that tells a model the required form of its reply. */
function formOf(output: JsonSchema): string[] {
  if (takesText(output)) return [];
  return [`Reply with JSON alone, by this JSON Schema: ${JSON.stringify(output)}`];
}

function nothingAsked(): WaybillError {
  return new WaybillError(
    422,
    "The handoff contains no work: it has no input, no brief and no messages. Give it one of them.",
  );
}

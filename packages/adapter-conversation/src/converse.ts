import {
  countUsage,
  distinctId,
  modelFailure,
  shownByUsers,
  textMessage,
  toolCallPart,
  toolCallsOf,
  withFiles,
} from "@waybill/agent/adapter";
import type { ToolCall } from "@waybill/agent/adapter";
import { mergeUsage, parseJson, WaybillError } from "@waybill/protocol";
import type { Artifact, Json, Message, UsageRow } from "@waybill/protocol";
import type { Conversation, Converse, Reply } from "./conversation.ts";
import { askChat } from "./model/chat.ts";
import { assertWhole } from "./model/failure.ts";
import { askResponses } from "./model/responses.ts";
import type { Said, SaidCall } from "./model/said.ts";
import type { Tool } from "./tool.ts";
import { openCallsOf, useTools } from "./use-tools.ts";

const ASK = { chat: askChat, responses: askResponses } as const;

const TURNS_AT_MOST = 16;

/** Runs a conversation: calls the model, runs the tools that it calls, and repeats. */
export async function converse(conversation: Conversation, about: Converse): Promise<Reply> {
  const { turnsAtMost = TURNS_AT_MOST, tools: given = [], name } = conversation;
  const tools = typeof given === "function" ? await given() : given;
  const added: Message[] = [...(about.after?.messages ?? [])];
  const brought: Artifact[] = [...(about.after?.artifacts ?? [])];
  const failures: WaybillError[] = [];
  const used: UsageRow[] = [];
  const replied = (text: string, questions: Reply["questions"]): Reply => {
    const usage = mergeUsage(used);
    return { text, messages: added, artifacts: brought, usage, failures, questions };
  };
  for (let turn = 0; turn < turnsAtMost; turn++) {
    const open = openCallsOf(added);
    if (open.length > 0) {
      const before = [...about.messages, ...added.slice(0, callingTurnOf(added))];
      const artifacts = [...(about.artifacts ?? []), ...brought];
      const tooled = await useTools(open, tools, { ...about, artifacts }, before);
      added.push(...tooled.messages);
      brought.push(...tooled.artifacts);
      used.push(...tooled.usage);
      failures.push(...tooled.failures);
      const { questions } = tooled;
      if (questions.length > 0 || tooled.isOver) return replied("", questions);
    }
    const said = await ask(conversation, about, tools, added, turn);
    added.push(messageOf(withDistinctIds(said, [...about.messages, ...added]), name));
    if (said.usage !== undefined) used.push(said.usage);
    if (said.calls.length > 0) continue;
    return replied(said.text, []);
  }
  throw new WaybillError(
    508,
    `The model was called ${turnsAtMost} times and still wants to use tools. Raise turnsAtMost, or reduce the task.`,
  );
}

async function ask(
  conversation: Conversation,
  about: Converse,
  tools: readonly Tool[],
  added: readonly Message[],
  turn: number,
): Promise<Said> {
  const { client, model, name, instructions, api = "chat", request = {} } = conversation;
  const { artifacts = [], output, onDelta, signal = new AbortController().signal } = about;
  signal.throwIfAborted();
  try {
    const said = await ASK[api]({
      client,
      model,
      name,
      instructions,
      messages: shownByUsers([...withFiles(about.messages, artifacts), ...added]),
      tools,
      form: isOfObject(output) ? output : undefined,
      request,
      headers: headersOf(about, turn),
      signal,
      onDelta: (delta) => onDelta?.(delta),
    });
    // A turn that can't be used has consumed its tokens all the same.
    if (said.usage !== undefined) countUsage(said.usage);
    assertWhole(said);
    return said;
  } catch (thrown) {
    signal.throwIfAborted();
    throw modelFailure(thrown);
  }
}

/** They identify the conversation in the logs of the model's host. */
function headersOf({ run, traceparent, tracestate }: Converse, turn: number) {
  return {
    "x-client-request-id": `${encodeURIComponent(run)}/${turn}`,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(tracestate === undefined ? {} : { tracestate }),
  };
}

/** The APIs accept only the schema of an object. */
function isOfObject(schema: Converse["output"]): boolean {
  return typeof schema === "object" && (schema as { type?: unknown }).type === "object";
}

function messageOf({ text, calls }: Said, name: string | undefined): Message {
  const message = textMessage("assistant", text, name);
  const content = [
    ...(text === "" && calls.length > 0 ? [] : message.content),
    ...calls.map(callOf).map(toolCallPart),
  ];
  return { ...message, content };
}

/**
 * Some models number their calls from the start in each turn, but an id identifies a handoff in the
 * run.
 */
function withDistinctIds(said: Said, before: readonly Message[]): Said {
  const used = new Set(before.flatMap(toolCallsOf).map(({ id }) => id));
  const calls = said.calls.map((call) => {
    const id = distinctId(call.id, used);
    used.add(id);
    return { ...call, id };
  });
  return { ...said, calls };
}

function callOf({ id, name, arguments: given }: SaidCall): ToolCall {
  let parsed: Json;
  try {
    parsed = given.trim() === "" ? {} : parseJson(given);
  } catch {
    parsed = given;
  }
  return { id, name, arguments: parsed };
}

function callingTurnOf(added: readonly Message[]): number {
  return added.findLastIndex(({ role }) => role === "assistant");
}

import { failureFrom, toolCallsOf, toolResultsOf } from "@waybill/agent/adapter";
import type { ToolCall } from "@waybill/agent/adapter";
import { compileSchema, WaybillError } from "@waybill/protocol";
import type { Artifact, Json, Message, UsageRow } from "@waybill/protocol";
import { toolMessage } from "./as-data.ts";
import type { Converse } from "./conversation.ts";
import type { Tool, ToolReply, ToolUse } from "./tool.ts";
import { WaitingForAnswer } from "./waiting-for-answer.ts";
import type { Question } from "./waiting-for-answer.ts";

export interface Used {
  /** In the order of the calls. */
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  readonly usage: readonly UsageRow[];
  readonly failures: readonly WaybillError[];
  readonly questions: readonly Question[];
  readonly isOver: boolean;
}

/** The calls of the last turn of a model that have no result yet. */
export function openCallsOf(messages: readonly Message[]): ToolCall[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  if (last === -1) return [];
  const done = new Set(
    messages
      .slice(last)
      .flatMap(toolResultsOf)
      .map(({ id }) => id),
  );
  return toolCallsOf(messages[last]!).filter(({ id }) => !done.has(id));
}

/** Runs tools in parallel. A failure that must end the conversation stops the others. */
export async function useTools(
  calls: readonly ToolCall[],
  tools: readonly Tool[],
  converse: Converse,
  said: readonly Message[],
): Promise<Used> {
  const stop = new AbortController();
  const { signal = stop.signal } = converse;
  const stopped = AbortSignal.any([signal, stop.signal]);
  const ended = await Promise.all(
    calls.map(async (call) => {
      try {
        const reply = await useTool(call, tools, toolUseOf(call, converse, said, stopped));
        return { call, reply };
      } catch (thrown) {
        if (thrown instanceof WaitingForAnswer) return { question: thrown.question };
        if (!endsAll(thrown)) return { call, reply: { failure: failureFrom(thrown) } };
        stop.abort(thrown);
        return { thrown };
      }
    }),
  );
  signal.throwIfAborted();
  for (const { thrown } of ended) if (thrown) throw thrown;
  const replies = ended.flatMap(({ call, reply }) => (reply ? [{ call, reply }] : []));
  return {
    messages: replies.map(({ call, reply }) => toolMessage(call.id, call.name, reply)),
    artifacts: replies.flatMap(({ reply: { artifacts = [] } }: { reply: ToolReply }) => artifacts),
    usage: replies.flatMap(({ reply: { usage = [] } }: { reply: ToolReply }) => usage),
    failures: replies.flatMap(({ reply: { failure } }: { reply: ToolReply }) => failure ?? []),
    questions: ended.flatMap(({ question }) => question ?? []),
    isOver: replies.some(({ reply: { isLast } }: { reply: ToolReply }) => isLast === true),
  };
}

async function useTool(call: ToolCall, tools: readonly Tool[], use: ToolUse): Promise<ToolReply> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) throw new Error(`There is no tool ${call.name}.`);
  // Arguments that are not JSON stay text, which matches no schema of an object.
  const [issue] = compileSchema(tool.parameters).check(call.arguments);
  if (issue !== undefined) {
    const { at, message } = issue;
    const said = `The arguments break the schema of ${call.name}${at && ` at ${at}`}: ${message}`;
    return { failure: new WaybillError(422, said, { at }) };
  }
  return tool.use(call.arguments, use);
}

function toolUseOf(
  { id }: ToolCall,
  converse: Converse,
  messages: readonly Message[],
  signal: AbortSignal,
): ToolUse {
  const {
    run,
    artifacts = [],
    traceparent,
    tracestate,
    answers,
    onQuestion,
    onProgress,
  } = converse;
  const use: ToolUse = {
    id,
    run,
    messages,
    artifacts,
    traceparent,
    tracestate,
    signal,
    progress: (event) => onProgress?.(event, use),
    async ask(asked): Promise<Json> {
      // The questions of two remote agents may have the same id.
      const questionId = asked.id === undefined || asked.id === id ? id : `${id}/${asked.id}`;
      const answer = answers?.get(questionId);
      if (answer !== undefined) return answer;
      if (onQuestion !== undefined) return onQuestion(asked, use);
      throw new WaitingForAnswer({ ...asked, id: questionId });
    },
  };
  return use;
}

/** A tool that throws one of these ends the whole conversation. */
function endsAll(thrown: unknown): thrown is Error {
  return WaybillError.is(thrown) || (thrown instanceof Error && thrown.name === "AbortError");
}

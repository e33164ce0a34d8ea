/// <reference types="node" />
import { join } from "node:path";
import {
  Annotation,
  Command,
  END,
  isInterrupted,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { AIMessageChunk } from "@langchain/core/messages";
import type { CallRequest, Played, PlayedUsage } from "@waybill/conformance";
import { toolCallPart, toolResultPart } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import type { Json, Message } from "@waybill/protocol";
import { toLangChain } from "./message-in.ts";
import { ScriptedModel } from "./model-fixture.ts";
import { remoteMember } from "./remote-member.ts";
import { receivedIn } from "./result-files.ts";
import { remoteNode } from "./remote-node.ts";
import { wake } from "./wake.ts";

const Calling = Annotation.Root({
  work: Annotation<PortableWork>,
  got: Annotation<Readonly<Record<string, Played>>>({
    reducer: (before, after) => ({ ...before, ...after }),
    default: () => ({}),
  }),
});

/** A graph with one node that calls. The thread is the run: a restarted one resumes where it was. */
export async function calling(request: CallRequest, isParked = false): Promise<Played> {
  const { agent, capability, to, timeoutMs, session, run, step, work, traceparent, signal } =
    request;
  const graph = new StateGraph(Calling)
    .addNode(
      step,
      remoteNode(agent, {
        isParked,
        handoff: ({ work: given }: typeof Calling.State) => ({
          capability: capability.name,
          to,
          timeoutMs,
          session,
          ...given,
        }),
        update: ({ output, messages, artifacts, usage }) => ({
          got: { [step]: { output, messages, artifacts, usage: usage?.total } },
        }),
      }),
    )
    .addEdge(START, step)
    .addEdge(step, END)
    .compile({ checkpointer: saverIn(request.folder) });
  const thread = { configurable: { thread_id: run }, metadata: { traceparent }, signal };
  const state = await graph.getState(thread);
  let input: unknown = state.next.length > 0 ? null : { work };
  for (;;) {
    const { got } = (await graph.getState(thread)).values as Partial<typeof Calling.State>;
    if (got?.[step] !== undefined) return got[step];
    let values: unknown;
    const stream = await graph.stream(input as null, {
      ...thread,
      durability: "sync",
      streamMode: ["custom", "messages", "values"],
    });
    for await (const [mode, chunk] of stream) {
      if (mode === "custom") request.show((chunk as { message: string }).message);
      else if (mode === "messages") showWritten(chunk, request);
      else values = chunk;
    }
    if (isParked) {
      const onProgress = ({ message = "" }) => request.show(message);
      values = await wake(agent, graph, thread, { onProgress });
    }
    if (!isInterrupted(values)) continue;
    const resume: Record<string, Json> = {};
    for (const { id, value } of values.__interrupt__) {
      const asked = value as { id: string; text: string };
      resume[id!] = await request.ask(asked.id, asked.text);
    }
    input = new Command({ resume });
  }
}

/** Shows deltas of another agent as a model's tokens, under the agent's name. */
export function showWritten(chunk: unknown, request: CallRequest): void {
  const [message] = chunk as [BaseMessage];
  if (AIMessageChunk.isInstance(message) && message.name !== undefined) request.show(message.text);
}

/**
 * A graph that keeps messages: another agent is a member, and a model is asked after it has spoken.
 * The thread is the run: a restarted one resumes where it was.
 */
export async function talking(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, session, run, step, work, traceparent, signal } =
    request;
  let heard: readonly BaseMessage[] = [];
  const model = new ScriptedModel((messages) => {
    heard = messages;
    return new AIMessage("So it is.");
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode(
      step,
      remoteMember(agent, {
        name: step,
        capability: capability.name,
        to,
        timeoutMs,
        session,
      }) as never,
    )
    .addNode("model", async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addEdge(START, step as never)
    .addEdge(step as never, "model")
    .addEdge("model", END)
    .compile({ checkpointer: saverIn(request.folder) });
  const thread = { configurable: { thread_id: run }, metadata: { traceparent }, signal };
  const given = (work.messages ?? []).flatMap((each) => toLangChain(each));
  const { next, values } = await graph.getState(thread);
  const { messages: before = [] } = values as Partial<typeof MessagesAnnotation.State>;
  const isOver = before.some((each) => receivedIn(each) !== undefined && each.name === step);
  const goOn = () => graph.invoke(next.length > 0 ? null : { messages: given }, thread);
  const { messages } = isOver ? { messages: before } : await goOn();
  const received = messages.flatMap((each) => receivedIn(each) ?? []).at(-1);
  const { output, messages: said, artifacts } = received!;
  const told = { as: step, messages: heard.map(toldOf) };
  return { output, messages: said, artifacts, usage: usageIn(messages), heard: told };
}

/** What LangChain counts of a conversation: the usage on its messages. */
function usageIn(messages: readonly BaseMessage[]): PlayedUsage | undefined {
  return messages.flatMap(
    (each) => (each as { usage_metadata?: PlayedUsage }).usage_metadata ?? [],
  )[0];
}

/** A message as a model is shown it. */
export function toldOf(message: BaseMessage): Message {
  const { type, name, text } = message;
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  const role = ({ ai: "assistant", human: "user" } as Record<string, string>)[type] ?? type;
  return {
    role: role as Message["role"],
    ...(name === undefined ? {} : { name }),
    content: ToolMessage.isInstance(message)
      ? [toolResultPart({ id: message.tool_call_id, output: text })]
      : [
          { type: "text", text },
          ...calls.map(({ id = "", name: called, args }) =>
            toolCallPart({ id, name: called, arguments: args as Json }),
          ),
        ],
  };
}

const savers = new Map<string, SqliteSaver>();

/** One for each folder: what is stored there outlives its process. */
export function saverIn(folder: string): SqliteSaver {
  const saver = savers.get(folder) ?? new SqliteSaver(join(folder, "checkpoints.db"));
  savers.set(folder, saver);
  return saver;
}

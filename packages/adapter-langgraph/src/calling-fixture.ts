/// <reference types="node" />
import { join } from "node:path";
import { Annotation, Command, END, isInterrupted, START, StateGraph } from "@langchain/langgraph";
import type { CallRequest, Played } from "@waybill/conformance";
import type { PortableWork } from "@waybill/agent/adapter";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import type { Json } from "@waybill/protocol";
import { remoteNode } from "./remote-node.ts";
import { wake } from "./wake.ts";

const Calling = Annotation.Root({
  work: Annotation<PortableWork>,
  got: Annotation<Readonly<Record<string, Played>>>({
    reducer: (before, after) => ({ ...before, ...after }),
    default: () => ({}),
  }),
});

/** A graph with one node that calls. The thread is the run: started anew, it goes on where it was. */
export async function calling(request: CallRequest, isParked = false): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, traceparent, signal } = request;
  const graph = new StateGraph(Calling)
    .addNode(
      step,
      remoteNode(agent, {
        isParked,
        handoff: ({ work: given }: typeof Calling.State) => ({
          capability: capability.name,
          to,
          timeoutMs,
          ...given,
        }),
        update: ({ output, messages, artifacts }) => ({
          got: { [step]: { output, messages, artifacts } },
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
      streamMode: ["custom", "values"],
    });
    for await (const [mode, chunk] of stream) {
      if (mode === "custom") request.show((chunk as { message: string }).message);
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

const savers = new Map<string, SqliteSaver>();

/** One for each folder: what is stored there outlives its process. */
export function saverIn(folder: string): SqliteSaver {
  const saver = savers.get(folder) ?? new SqliteSaver(join(folder, "checkpoints.db"));
  savers.set(folder, saver);
  return saver;
}

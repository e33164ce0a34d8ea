/// <reference types="node" />
// A LangGraph graph with a node that is another agent, run once for each line of its standard input:
// its thread, its input, and its answer to a question. A line with only a thread stops the run of
// that thread; a thread left by an ended process is continued. Reports everything in JSON.
import process from "node:process";
import { createInterface } from "node:readline";
import { createAgent, loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { remoteNode } from "@waybill/adapter-langgraph";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import { Command, START, StateGraph } from "@langchain/langgraph";
import { WaybillError } from "@waybill/protocol";
import * as z from "zod";

interface Line {
  readonly thread: string;
  readonly capability: string;
  readonly to: string;
  readonly words: string;
  readonly timeoutMs?: number;
  /** By default a question is reported, and not answered. */
  readonly answer?: string;
  readonly isStop?: boolean;
}

interface Interrupted {
  readonly id?: string;
  readonly value: unknown;
}

const State = z.object({ line: z.custom<Line>(), said: z.string().optional() });
const [url = "", id = "", key = ""] = process.argv.slice(2);
const agent = createAgent({ id, key: await loadKey(key), hub: await connect(url) });
await agent.start();

const graph = new StateGraph(State)
  .addNode(
    "remote",
    remoteNode(agent, {
      handoff: ({ line }: z.infer<typeof State>) => ({
        capability: line.capability,
        to: line.to,
        brief: { instruction: line.words },
        timeoutMs: line.timeoutMs ?? 90_000,
      }),
      update: ({ output }) => ({ said: output as string }),
    }),
  )
  .addEdge(START, "remote")
  .compile({ checkpointer: new SqliteSaver(`${key}.checkpoints`) });

const running = new Map<string, AbortController>();
tell({ type: "ready" });
for await (const text of createInterface({ input: process.stdin })) {
  const line = JSON.parse(text) as Line;
  if (line.isStop === true) {
    running.get(line.thread)!.abort(new Error("The run was stopped."));
    continue;
  }
  run(line).catch((error: unknown) => {
    const { status, message } = WaybillError.from(error);
    tell({ type: "error", status, message });
  });
}
await agent.stop();
process.exit();

async function run(line: Line): Promise<void> {
  const thread = { configurable: { thread_id: line.thread } };
  const controller = new AbortController();
  running.set(line.thread, controller);
  const { next: left } = await graph.getState(thread);
  let input: Command | z.infer<typeof State> | null = left.length > 0 ? null : { line };
  for (;;) {
    const asked = await stream(input, { ...thread, signal: controller.signal });
    if (asked === undefined) break;
    tell({ type: "question", question: asked.value });
    if (line.answer === undefined) return;
    input = new Command({ resume: { [asked.id!]: line.answer } });
  }
  const { values } = await graph.getState(thread);
  tell({ type: "result", said: (values as z.infer<typeof State>).said });
}

/** One run of the graph. Returns what it waits for, if it has not ended. */
async function stream(input: unknown, config: object): Promise<Interrupted | undefined> {
  let asked: Interrupted | undefined;
  const modes = { streamMode: ["custom", "updates"], durability: "sync" } as const;
  const chunks = await graph.stream(input as never, { ...config, ...modes } as never);
  for await (const [mode, chunk] of chunks as AsyncIterable<[string, object]>) {
    if (mode === "custom") tell({ type: "progress", data: chunk });
    else asked = (chunk as { __interrupt__?: Interrupted[] }).__interrupt__?.[0] ?? asked;
  }
  return asked;
}

function tell(said: object): void {
  console.log(JSON.stringify(said));
}

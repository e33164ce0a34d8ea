/// <reference types="node" />
import { join as path } from "node:path";
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { remote, remoteNode, serveGraph } from "@waybill/adapter-langgraph";
import { handoffIdOf } from "@waybill/agent/adapter";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import { WaybillError } from "@waybill/protocol";
import { join, seat } from "./join.ts";

interface AskQuestion {
  readonly question: string;
  readonly timeoutMs: number;
}

interface Finding {
  readonly question: string;
  readonly answer: string;
  readonly by: string;
}

interface Missed {
  readonly question: string;
  readonly handoffId: string;
}

const State = Annotation.Root({
  topic: Annotation<string>,
  questions: Annotation<readonly AskQuestion[]>,
  findings: Annotation<readonly Finding[]>({
    reducer: (before, after) => [...before, ...after],
    default: () => [],
  }),
  missed: Annotation<readonly Missed[]>({
    reducer: (before, after) => [...before, ...after],
    default: () => [],
  }),
  article: Annotation<string>,
});

const Output = Annotation.Root({ article: Annotation<string> });

type State = typeof State.State;
type Config = LangGraphRunnableConfig;

/** Long enough for a person who reads the question and gets a coffee first. */
const ARTICLE_MS = 240_000;
const SECOND_TRY_MS = 120_000;

function tell({ writer }: Config, message: string): void {
  writer?.({ message, data: { step_of: seat.id } });
}

await join((agent, hub) => {
  const ask = async ({ question, timeoutMs }: AskQuestion, config: Config) => {
    const handoff = { capability: "web_research", input: { question }, timeoutMs };
    try {
      const { output, by } = await remote(agent, handoff, config);
      return { findings: [{ question, by, answer: (output as { answer: string }).answer }] };
    } catch (error) {
      if (!WaybillError.is(error, 504)) throw error;
      const { threadId: run = "", taskId: step } = config.executionInfo!;
      return { missed: [{ question, handoffId: handoffIdOf(agent.id, { run, step }) }] };
    }
  };

  const graph = new StateGraph({ state: State, output: Output })
    .addNode("find", async (_, config: Config) => {
      const { fits } = await hub.find({ capability: "web_research" });
      const names = fits.map(({ agent_id: id }) => id).join(", ");
      tell(config, `looks for web_research, and finds ${names}`);
      return {};
    })
    .addNode("ask", ask)
    .addNode("gather", (_, config: Config) => {
      tell(config, "has heard of all its questions");
      return {};
    })
    .addNode("ask again", async ({ question, handoffId: replayOf }: Missed, config: Config) => {
      const handoff = { capability: "web_research", input: { question }, replayOf };
      const { output, by } = await remote(agent, { ...handoff, timeoutMs: SECOND_TRY_MS }, config);
      return { findings: [{ question, by, answer: (output as { answer: string }).answer }] };
    })
    .addNode(
      "write",
      remoteNode(agent, {
        handoff: ({ topic, findings }: State) => ({
          capability: "write_article",
          brief: {
            instruction: `Write a short article: ${topic}. Use these findings:\n${findings
              .map(({ question, answer }) => `- ${question} ${answer}`)
              .join("\n")}`,
            expected_output: "A headline, and one paragraph of what the findings come to.",
          },
          timeoutMs: ARTICLE_MS,
        }),
        update: ({ output }) => ({ article: output as string }),
      }),
    )
    .addEdge(START, "find")
    .addConditionalEdges(
      "find",
      ({ questions }) => questions.map((each) => new Send("ask", each)),
      ["ask"],
    )
    .addEdge("ask", "gather")
    .addConditionalEdges(
      "gather",
      ({ missed }) =>
        missed.length === 0 ? "write" : missed.map((each) => new Send("ask again", each)),
      ["write", "ask again"],
    )
    .addEdge("ask again", "write")
    .addEdge("write", END)
    .compile({ checkpointer: new SqliteSaver(path(seat.folder, "editor.db")) });

  agent.serve(
    ...serveGraph(graph, {
      name: "publish_story",
      description: "Has a topic researched and written up.",
      input_schema: {
        type: "object",
        properties: { topic: { type: "string" }, questions: { type: "array" } },
        required: ["topic", "questions"],
      },
      lease_seconds: 10,
      effects: "none",
    }),
  );
});

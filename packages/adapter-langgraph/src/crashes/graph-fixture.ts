import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { Agent } from "@waybill/agent";
import type { Graph } from "../graph.ts";
import { remoteNode } from "../remote-node.ts";

export const PHASES = [
  "opened",
  "dispatching",
  "working",
  "waiting",
  "resuming",
  "applying",
] as const;

export type Phase = (typeof PHASES)[number];

const Job = Annotation.Root({
  topic: Annotation<string>,
  fact: Annotation<string>,
  applied: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

/** A graph that is parked on another agent, and then counts what it has got. */
export function jobGraph(
  agent: Agent,
  checkpointer: BaseCheckpointSaver,
  tell: (phase: Phase, topic: string) => void,
): Graph {
  return new StateGraph(Job)
    .addNode(
      "research",
      remoteNode(agent, {
        isParked: true,
        handoff({ topic }: typeof Job.State) {
          tell("dispatching", topic);
          return { capability: "research", input: topic, timeoutMs: 3_600_000 };
        },
        update({ output }, { topic }) {
          tell("resuming", topic);
          return { fact: output as string };
        },
      }),
    )
    .addNode("apply", ({ fact, topic }) => {
      tell("applying", topic);
      return { applied: [fact] };
    })
    .addEdge(START, "research")
    .addEdge("research", "apply")
    .addEdge("apply", END)
    .compile({ checkpointer });
}

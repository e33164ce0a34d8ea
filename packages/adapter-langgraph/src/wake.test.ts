import {
  Annotation,
  Command,
  isInterrupted,
  MemorySaver,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { Agent } from "@waybill/agent";
import { expect, test } from "vitest";
import type { Graph } from "./graph.ts";
import { remoteNode } from "./remote-node.ts";
import { unfinishedThreads, wake } from "./wake.ts";
import { world } from "@waybill/conformance/vitest";

const State = Annotation.Root({
  towns: Annotation<string[]>,
  facts: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

/** Parks on one agent for each of two towns, at the same time. */
function twoParked(owner: Agent, checkpointer?: BaseCheckpointSaver) {
  const node = (place: number) =>
    remoteNode(owner, {
      isParked: true,
      handoff: ({ towns }: typeof State.State) => ({ capability: "look_up", input: towns[place]! }),
      update: ({ output }) => ({ facts: [output as string] }),
    });
  return new StateGraph(State)
    .addNode("one", node(0))
    .addNode("other", node(1))
    .addEdge(START, "one")
    .addEdge(START, "other")
    .compile(checkpointer && { checkpointer });
}

const THREAD = { configurable: { thread_id: "tour" } };
const TOWNS = { towns: ["Bergen", "Oslo"] };

async function unfinishedIn(graph: Graph): Promise<string[]> {
  const threads: string[] = [];
  for await (const thread of unfinishedThreads(graph)) threads.push(thread);
  return threads;
}

async function gated() {
  const all = await world();
  const gates = new Map(TOWNS.towns.map((town) => [town, Promise.withResolvers<string>()]));
  let asked = 0;
  const atlas = all.agent("atlas");
  atlas.serve<string>("look_up", async ({ input }) => {
    asked++;
    return gates.get(input)!.promise;
  });
  await atlas.start();
  return {
    ...all,
    open: (town: string) => gates.get(town)!.resolve(`all about ${town}`),
    asked: () => asked,
  };
}

test("a graph that is parked on two agents is woken by each of them, in any order", async () => {
  const { agent, open, asked } = await gated();
  const saver = new MemorySaver();
  const owner = agent("owner");
  const graph = twoParked(owner, saver);
  expect(isInterrupted(await graph.invoke(TOWNS, THREAD))).toBe(true);
  const woken = wake(owner, graph, THREAD);
  // A concurrent wake waits for the same end.
  expect(wake(owner, graph, THREAD)).toBe(woken);
  open("Oslo");
  open("Bergen");
  const { facts } = (await woken) as typeof State.State;
  expect(facts.toSorted()).toEqual(["all about Bergen", "all about Oslo"]);
  expect(asked()).toBe(2);
  expect(await wake(owner, graph, THREAD)).toEqual(await woken);
  expect(await unfinishedIn(graph)).toEqual([]);
});

test("a stopping agent leaves its graph parked, and the next one wakes it", async () => {
  const { agent, open, asked } = await gated();
  const saver = new MemorySaver();
  const first = agent("owner");
  const graph = twoParked(first, saver);
  await graph.invoke(TOWNS, THREAD);
  const woken = wake(first, graph, THREAD);
  await first.stop({ mode: "abandon" });
  await expect(woken).rejects.toMatchObject({ status: 503 });
  open("Bergen");
  open("Oslo");
  const second = agent("owner");
  const again = twoParked(second, saver);
  expect(await unfinishedIn(again)).toEqual(["tour"]);
  const { facts } = (await wake(second, again, THREAD)) as typeof State.State;
  expect(facts.length).toBe(2);
  expect(asked()).toBe(2);
});

test("a question reaches the code that has parked the graph, and the answer wakes it again", async () => {
  const { agent } = await world();
  const atlas = agent("atlas");
  atlas.serve<string>(
    "look_up",
    async ({ ask, input }) => `${input} in ${await ask<string>("Which year?")}`,
  );
  await atlas.start();
  const owner = agent("owner");
  const graph = twoParked(owner, new MemorySaver());
  await graph.invoke(TOWNS, THREAD);
  for (const year of ["1900", "2000"]) {
    const values = await wake(owner, graph, THREAD);
    if (!isInterrupted(values)) throw new Error("It was to ask.");
    const asking = values.__interrupt__.find(({ value }) => (value as { text?: string }).text)!;
    expect(asking.value).toMatchObject({ waybill: "question", by: "atlas", text: "Which year?" });
    await graph.invoke(new Command({ resume: { [asking.id!]: year } }), THREAD);
  }
  const { facts } = (await wake(owner, graph, THREAD)) as typeof State.State;
  expect(facts.map((each) => each.slice(-4)).toSorted()).toEqual(["1900", "2000"]);
});

test("a failure is the node's error, with its status, and stays one", async () => {
  const { agent } = await world();
  const atlas = agent("atlas");
  atlas.serve({ name: "look_up", max_attempts: 1 }, () => {
    throw new Error("It has sunk.");
  });
  await atlas.start();
  const owner = agent("owner");
  const graph = twoParked(owner, new MemorySaver());
  await graph.invoke(TOWNS, THREAD);
  for (let again = 0; again < 2; again++) {
    await expect(wake(owner, graph, THREAD)).rejects.toMatchObject({
      status: 500,
      message: "It has sunk.",
    });
  }
});

test.each([
  ["without a checkpointer", undefined, {}],
  ["that keeps its checkpoints only at its end", new MemorySaver(), { durability: "exit" }],
] as const)("a graph %s can't be parked, and nothing is sent", async (_, saver, options) => {
  const { agent, asked } = await gated();
  const graph = twoParked(agent("owner"), saver);
  const error = await graph.invoke(TOWNS, { ...THREAD, ...options }).catch((e: unknown) => e);
  expect(error instanceof AggregateError ? error.errors[0] : error).toMatchObject({ status: 403 });
  expect(asked()).toBe(0);
});

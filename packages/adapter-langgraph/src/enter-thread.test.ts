import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Run } from "@waybill/agent/adapter";
import { expect, test } from "vitest";
import { enterThread } from "./enter-thread.ts";
import type { Graph } from "./graph.ts";

const config = { configurable: { thread_id: "thread" } };

function graph(fails: () => boolean): Graph {
  const compiled = new StateGraph(MessagesAnnotation)
    .addNode("first", () => ({ messages: [{ role: "assistant", content: "first" }] }) as never)
    .addNode("second", () => {
      if (fails()) throw new Error("killed");
      return { messages: [{ role: "assistant", content: "second" }] } as never;
    })
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", END)
    .compile({ checkpointer: new MemorySaver() });
  return compiled;
}

const found: boolean[] = [];

function runOf(handoffId: string, attempt: number): Run {
  const session = { found: (had: boolean) => void found.push(had) };
  const deadline = new Date(Date.now() + 60_000);
  return { handoffId, attempt, deadline, session } as unknown as Run;
}

const said = (id: string) => ({ messages: [{ id: `${id}/0`, role: "user", content: id }] });
const idsIn = (values: Readonly<Record<string, unknown>> | undefined) =>
  (values?.["messages"] as { text: string }[] | undefined)?.map(({ text }) => text);

test("WB-224 a turn that was completed before its process was killed is not repeated after another turn", async () => {
  const thing = graph(() => false);
  expect(await enterThread(thing, runOf("a", 1), config)).toMatchObject({ isBegun: false });
  await thing.invoke(said("a"), config);
  // The result of a is lost with the process, and b comes before the next attempt.
  expect(await enterThread(thing, runOf("b", 1), config)).toMatchObject({ isBegun: false });
  await thing.invoke(said("b"), config);
  const again = await enterThread(thing, runOf("a", 2), config);
  expect("ended" in again && idsIn(again.ended)).toEqual(["a", "first", "second"]);
  expect(await enterThread(thing, runOf("b", 2), config)).toMatchObject({ isBegun: true });
  expect(found).toEqual([false, true, true, true]);
});

test("WB-224 a turn that was killed during its run resumes, and does not begin again", async () => {
  let isKilled = true;
  const thing = graph(() => isKilled);
  await enterThread(thing, runOf("a", 1), config);
  await expect(thing.invoke(said("a"), config)).rejects.toThrow("killed");
  isKilled = false;
  expect(await enterThread(thing, runOf("a", 2), config)).toMatchObject({ isBegun: true });
  // Killed before the graph had anything of it: the turn has not begun.
  await thing.invoke(null, config);
  await enterThread(thing, runOf("b", 1), config);
  expect(await enterThread(thing, runOf("b", 2), config)).toMatchObject({ isBegun: false });
});

test("WB-224 an interrupted turn that another one has followed is a failure", async () => {
  let isKilled = true;
  const thing = graph(() => isKilled);
  await enterThread(thing, runOf("a", 1), config);
  await expect(thing.invoke(said("a"), config)).rejects.toThrow("killed");
  isKilled = false;
  await enterThread(thing, runOf("b", 1), config);
  await thing.invoke(said("b"), config);
  await expect(enterThread(thing, runOf("a", 2), config)).rejects.toMatchObject({
    status: 500,
    retryable: false,
  });
});

import {
  Annotation,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { textMessage } from "@waybill/agent/adapter";
import type { HandoffHandle } from "@waybill/agent";
import { world } from "@waybill/conformance/vitest";
import { sessionKey } from "@waybill/protocol";
import { expect, test } from "vitest";
import { remoteMember } from "./remote-member.ts";
import { serveGraph } from "./serve.ts";
import type { ServeGraphOptions } from "./serve.ts";

/** Says how much it has heard; asks and fails when it is told to. */
function chat(checkpointer?: BaseCheckpointSaver, fails: () => boolean = () => false) {
  return new StateGraph(MessagesAnnotation)
    .addNode("reply", ({ messages }) => {
      const heard = messages.map(({ text }) => text);
      if (heard.at(-1) === "ask") return reply(`You said ${interrupt<string, string>("Which?")}.`);
      if (fails()) throw Object.assign(new Error("Not now."), { status: 503 });
      return reply(heard.join(", "));
    })
    .addEdge(START, "reply")
    .addEdge("reply", END)
    .compile({ ...(checkpointer && { checkpointer }) });
}

const reply = (content: string) => ({ messages: [{ role: "assistant", content }] }) as never;

async function serving(graph: ReturnType<typeof chat>, options?: ServeGraphOptions) {
  const { agent } = await world();
  const [worker, owner] = [agent("worker"), agent("owner")];
  worker.serve(...serveGraph(graph, { name: "chat", max_attempts: 2 }, options));
  await worker.start();
  return (text: string, session?: string): HandoffHandle =>
    owner.handoff({ capability: "chat", messages: [textMessage("user", text)], session });
}

test("a session is a thread of its own, named by the hash of delegator and session", async () => {
  const saver = new MemorySaver();
  const say = await serving(chat(saver));
  await say("one", "trip").result;
  const { output, session, messages } = await say("two", "trip").result;
  expect([output, session]).toEqual(["one, one, two", "continued"]);
  expect(messages).toHaveLength(1);
  expect(Object.keys(saver.storage)).toEqual([`${sessionKey("owner", "trip")}:chat`]);
});

test("without a checkpointer a session is not kept, and the result does not claim it", async () => {
  const say = await serving(chat());
  await say("one", "trip").result;
  const { output, session } = await say("two", "trip").result;
  expect([output, session]).toEqual(["two", undefined]);
});

test("a conversation that is missing from its checkpointer is reported as lost", async () => {
  const saver = new MemorySaver();
  const say = await serving(chat(saver));
  await say("one", "trip").result;
  await saver.deleteThread(`${sessionKey("owner", "trip")}:chat`);
  const { output, session } = await say("two", "trip").result;
  expect([output, session]).toEqual(["two", "lost"]);
});

test("a thread that the author of a graph has named is kept, with and without a session", async () => {
  const saver = new MemorySaver();
  const config = () => ({ configurable: { thread_id: "mine" } });
  const say = await serving(chat(saver), { config });
  await say("one").result;
  expect((await say("two").result).output).toBe("one, one, two");
  expect((await say("three", "trip").result).output).toContain("one, one, two, one, one, two");
  expect(Object.keys(saver.storage)).toEqual(["mine"]);
});

test("a turn that fails and is retried is in the thread once", async () => {
  let tries = 0;
  const say = await serving(chat(new MemorySaver(), () => ++tries === 2));
  await say("one", "trip").result;
  const { output, attempt } = await say("two", "trip").result;
  expect([output, attempt]).toEqual(["one, one, two", 2]);
});

test("while a thread waits for an answer, other turns of its session wait too", async () => {
  const say = await serving(chat(new MemorySaver()));
  await say("one", "trip").result;
  const asking = say("ask", "trip");
  for await (const { id } of asking.questions) {
    const next = say("three", "trip");
    await next.custody;
    await asking.answer(id, "seven");
    expect((await asking.result).output).toBe("You said seven.");
    expect((await next.result).output).toBe("one, one, ask, You said seven., three");
    break;
  }
});

test("a node can hand off in the session of its thread", async () => {
  const { agent } = await world();
  const [worker, caller] = [agent("worker"), agent("caller")];
  worker.serve(...serveGraph(chat(new MemorySaver()), { name: "chat" }));
  await worker.start();
  const calling = (session?: true) => {
    const member = remoteMember(caller, { name: "chatter", capability: "chat", session });
    const ask = async (text: string, thread_id: string) => {
      const messages = [{ role: "user", content: text }];
      const { messages: said } = await new StateGraph(MessagesAnnotation)
        .addNode("chatter", member as never)
        .addEdge(START, "chatter")
        .addEdge("chatter", END)
        .compile({ checkpointer: new MemorySaver() })
        .invoke({ messages }, { configurable: { thread_id } });
      return said.at(-1)!.text;
    };
    return ask;
  };
  const shared = calling(true);
  await shared("one", "thread 1");
  expect(await shared("two", "thread 1")).toBe("one, one, two");
  expect(await shared("three", "thread 2")).toBe("three");
  const apart = calling();
  expect(await apart("four", "thread 1")).toBe("four");
});

test("a state without messages is continued in a session, too", async () => {
  const Count = Annotation.Root({
    add: Annotation<number>,
    sum: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
  });
  const graph = new StateGraph({ state: Count })
    .addNode("count", ({ add }) => ({ sum: add }))
    .addEdge(START, "count")
    .addEdge("count", END)
    .compile({ checkpointer: new MemorySaver() });
  const { agent } = await world();
  const [worker, owner] = [agent("worker"), agent("owner")];
  worker.serve(...serveGraph(graph, { name: "count" }));
  await worker.start();
  const add = (number: number, session?: string) =>
    owner.handoff({ capability: "count", input: { add: number }, session }).result;
  expect((await add(1, "a")).output).toMatchObject({ sum: 1 });
  expect((await add(2, "a")).output).toMatchObject({ sum: 3 });
  expect((await add(3, "b")).output).toMatchObject({ sum: 3 });
  expect((await add(4)).output).toMatchObject({ sum: 4 });
});

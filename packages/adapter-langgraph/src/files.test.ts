import { AIMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { artifactOf, mediaPart, textMessage, textOf } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import { world } from "@waybill/conformance/vitest";
import type { Artifact, Message } from "@waybill/protocol";
import { expect, test } from "vitest";
import { ScriptedModel } from "./model-fixture.ts";
import { remoteMember } from "./remote-member.ts";
import { receivedIn } from "./result-files.ts";
import { serveGraph } from "./serve.ts";

const NOTES = artifactOf("notes.bin", "application/x-notes", new Uint8Array([1, 2]));
const MARKS = artifactOf("marks.bin", "application/x-marks", new Uint8Array([3, 4]));
const IMAGE = mediaPart({ type: "image", media_type: "image/png", data: "iVBORw0KGgo" });
const SHOWING: Message = { role: "user", content: [{ type: "text", text: "Look." }, IMAGE] };

/** A graph that has a query, and nothing else. */
function narrow() {
  const state = Annotation.Root({ query: Annotation<string>, answer: Annotation<string> });
  return new StateGraph(state)
    .addNode("reply", () => ({ answer: "Rain." }))
    .addEdge(START, "reply")
    .addEdge("reply", END)
    .compile();
}

const QUERY = {
  type: "object",
  properties: { query: { type: "string" } },
  required: ["query"],
} as const;

test.for<[string, PortableWork, RegExp]>([
  ["a file", { input: { query: "rain" }, artifacts: [NOTES] }, /notes\.bin.*artifacts/s],
  ["an image", { messages: [SHOWING] }, /image.*messages/s],
  [
    "a history",
    { input: { query: "rain" }, messages: [textMessage("user", "In Bergen.")] },
    /history.*messages/s,
  ],
])("%s that a graph's state has no place for is refused, with the reason", async (given) => {
  const [, work, reason] = given;
  const { agent } = await world();
  const worker = agent("worker");
  const takes = work.input === undefined ? { takes: "conversation" as const } : {};
  worker.serve(...serveGraph(narrow(), { name: "look", input_schema: QUERY, ...takes }));
  await worker.start();
  const { result } = agent("owner").handoff({ capability: "look", ...work });
  await expect(result).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(reason),
  });
});

test("files and history of a graph with input and messages go into its messages", async () => {
  const { agent } = await world();
  const seen: BaseMessage[][] = [];
  const state = Annotation.Root({ ...MessagesAnnotation.spec, query: Annotation<string> });
  const graph = new StateGraph(state)
    .addNode("reply", ({ messages }) => {
      seen.push(messages);
      return { query: "done" };
    })
    .addEdge(START, "reply")
    .addEdge("reply", END)
    .compile();
  const worker = agent("worker");
  worker.serve(...serveGraph(graph, { name: "look", input_schema: QUERY }));
  await worker.start();
  const input = { query: "rain" };
  const messages = [textMessage("user", "In Bergen.")];
  await agent("owner").handoff({ capability: "look", input, messages, artifacts: [NOTES] }).result;
  const blocks = seen[0]!.flatMap(({ contentBlocks }) => contentBlocks);
  expect(blocks).toMatchObject([
    { type: "text", text: "In Bergen." },
    { type: "file", mimeType: "application/x-notes", metadata: { filename: "notes.bin" } },
  ]);
});

test("a member's files are named to the model, and reach the next member", async () => {
  const { agent } = await world();
  const painter = agent("painter-agent");
  painter.serve({ name: "paint", takes: "conversation" }, ({ result }) =>
    result({ messages: [textMessage("assistant", "Done.")], artifacts: [NOTES] }),
  );
  const binder = agent("binder-agent");
  binder.serve({ name: "bind", takes: "conversation" }, ({ result }) =>
    result({ artifacts: [MARKS] }),
  );
  const seen: (Artifact[] | undefined)[] = [];
  const critic = agent("critic-agent");
  critic.serve({ name: "judge", takes: "conversation" }, ({ body }) => {
    seen.push(body.artifacts);
    return "Fine.";
  });
  await Promise.all([painter.start(), binder.start(), critic.start()]);
  const owner = agent("owner");
  let heard: readonly BaseMessage[] = [];
  const model = new ScriptedModel((messages) => {
    heard = messages;
    return new AIMessage("So it is.");
  });
  const member = (name: string, capability: string) =>
    remoteMember(owner, { name, capability }) as never;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("painter", member("painter", "paint"))
    .addNode("binder", member("binder", "bind"))
    .addNode("critic", member("critic", "judge"))
    .addNode("model", async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addEdge(START, "painter")
    .addEdge("painter", "binder")
    .addEdge("binder", "critic")
    .addEdge("critic", "model")
    .addEdge("model", END)
    .compile();
  const { messages } = await graph.invoke({ messages: [{ role: "user", content: "Paint." }] });
  expect(heard.map(({ name, text }) => [name, text])).toEqual([
    [undefined, "Paint."],
    ["painter", "Done.\n[file notes.bin, application/x-notes]"],
    ["binder", "[file marks.bin, application/x-marks]"],
    ["critic", "Fine."],
  ]);
  expect(seen).toEqual([[NOTES, MARKS]]);
  expect(messages.flatMap((each) => receivedIn(each)?.artifacts ?? [])).toEqual([NOTES, MARKS]);
});

test("a member gets the files of the graph's state", async () => {
  const { agent } = await world();
  const seen: (Artifact[] | undefined)[] = [];
  const critic = agent("critic-agent");
  critic.serve({ name: "judge", takes: "conversation" }, ({ body }) => {
    seen.push(body.artifacts);
    return body.messages!.map(textOf).join();
  });
  await critic.start();
  const state = Annotation.Root({
    ...MessagesAnnotation.spec,
    artifacts: Annotation<Artifact[]>,
  });
  const graph = new StateGraph(state)
    .addNode(
      "critic",
      remoteMember(agent("editor"), { name: "critic", capability: "judge" }) as never,
    )
    .addEdge(START, "critic")
    .addEdge("critic", END)
    .compile();
  const editor = agent("chief");
  editor.serve(...serveGraph(graph, { name: "edit" }));
  await editor.start();
  const messages = [textMessage("user", "Look.")];
  await agent("owner").handoff({ capability: "edit", messages, artifacts: [NOTES] }).result;
  expect(seen).toEqual([[NOTES]]);
});

test("files of members and tools are in the result of a served graph", async () => {
  const { agent } = await world();
  const painter = agent("painter-agent");
  painter.serve({ name: "paint", takes: "conversation" }, ({ result }) =>
    result({ messages: [textMessage("assistant", "Done.")], artifacts: [NOTES] }),
  );
  await painter.start();
  const editor = agent("editor");
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("painter", remoteMember(editor, { name: "painter", capability: "paint" }) as never)
    .addEdge(START, "painter")
    .addEdge("painter", END)
    .compile({ checkpointer: new MemorySaver() });
  editor.serve(...serveGraph(graph, { name: "edit" }));
  await editor.start();
  const messages = [textMessage("user", "Paint.")];
  const edited = await agent("owner").handoff({ capability: "edit", messages }).result;
  expect(edited.artifacts).toEqual([NOTES]);
});

import { AIMessage } from "@langchain/core/messages";
import type { UsageMetadata } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { textMessage } from "@waybill/agent/adapter";
import { world } from "@waybill/conformance/vitest";
import { expect, test } from "vitest";
import { ScriptedModel } from "./model-fixture.ts";
import { remoteMember } from "./remote-member.ts";
import { serveGraph } from "./serve.ts";

const USED: UsageMetadata = {
  input_tokens: 100,
  output_tokens: 20,
  total_tokens: 120,
  input_token_details: { cache_read: 80 },
  output_token_details: { reasoning: 5 },
};

function reporting(): ScriptedModel {
  const about = { usage_metadata: USED, response_metadata: { model_name: "large" } };
  return new ScriptedModel(() => new AIMessage({ content: "So it is.", ...about } as never));
}

const asked = { messages: [textMessage("user", "Where does it rain?", "anna")] };

test("models count anywhere in a graph, and a remote member's usage is its own", async () => {
  const { agent } = await world();
  const [worker, remote, owner] = [agent("worker"), agent("remote"), agent("owner")];
  remote.serve({ name: "forecast", takes: "conversation" }, ({ addUsage, delta }) => {
    // It is shown like a model's tokens, and no model of the graph has written it.
    delta("In Bergen.");
    addUsage({ model: "small", requests: 2, input_tokens: 7, output_tokens: 3 });
    return "In Bergen.";
  });
  const model = reporting();
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("inner", async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addEdge(START, "inner")
    .addEdge("inner", END)
    .compile();
  let counted: unknown;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("member", remoteMember(worker, { name: "expert", capability: "forecast" }) as never)
    .addNode("look", ({ messages }) => {
      counted = (messages.at(-1) as unknown as { usage_metadata?: unknown }).usage_metadata;
      return {};
    })
    .addNode("own", inner)
    .addEdge(START, "member")
    .addEdge("member", "look")
    .addEdge("look", "own")
    .addEdge("own", END)
    .compile();
  worker.serve(...serveGraph(graph, { name: "work" }));
  await Promise.all([worker.start(), remote.start()]);
  const { usage } = await owner.handoff({ capability: "work", ...asked }).result;
  expect(counted).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 });
  expect(usage).toMatchObject({
    own: [
      {
        model: "large",
        requests: 1,
        input_tokens: 100,
        cached_input_tokens: 80,
        output_tokens: 20,
        reasoning_tokens: 5,
      },
    ],
    children: [{ model: "small", requests: 2, input_tokens: 7, output_tokens: 3 }],
    total: { requests: 3, input_tokens: 107, output_tokens: 23 },
  });
});

test("a failed run reports its usage so far", async () => {
  const { agent } = await world();
  const [worker, owner] = [agent("worker"), agent("owner")];
  const model = reporting();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("own", async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addNode("fail", () => {
      throw new Error("it broke");
    })
    .addEdge(START, "own")
    .addEdge("own", "fail")
    .compile();
  worker.serve(...serveGraph(graph, { name: "work", max_attempts: 1 }));
  await worker.start();
  const handoff = owner.handoff({ capability: "work", ...asked });
  await expect(handoff.result).rejects.toMatchObject({ status: 500 });
  expect(handoff.usage?.total).toMatchObject({ requests: 1, input_tokens: 100 });
});

import { Command, isInterrupted } from "@langchain/langgraph";
import type { BaseMessage } from "@langchain/core/messages";
import { textOf } from "@waybill/agent/adapter";
import { createAgent, createMiddleware, ToolMessage } from "langchain";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { saverIn, toldOf, showWritten } from "./calling-fixture.ts";
import { usingTools } from "./model-fixture.ts";
import { remoteTool } from "./remote-tool.ts";
import type { RemoteArtifact } from "./remote-tool.ts";

const ARGUMENTS_ALONE = "a model gives a tool arguments by its schema, and nothing else";

/** An agent whose model uses another agent as a tool. */
export const fixture: AdapterFixture = {
  adapter: "langgraph, tool",
  module: new URL(import.meta.url),
  call: { run: calling },
  gaps: {
    "call: a task in words goes out, and its result comes back into the framework": ARGUMENTS_ALONE,
    "call: a history goes out whole, with its roles, names and tool calls": ARGUMENTS_ALONE,
    "call: what was said before goes out with the work": ARGUMENTS_ALONE,
    "call: an image in a conversation goes out whole": ARGUMENTS_ALONE,
    "call: an image in a conversation goes along with a task": ARGUMENTS_ALONE,
    "call: artifacts go out byte for byte": ARGUMENTS_ALONE,
    "call: a file that is too large for an envelope goes out byte for byte": ARGUMENTS_ALONE,
    "call: a refusal reaches the framework as 422, with its reason":
      "LangChain checks a model's arguments by the tool's schema itself, and tells the model",
  },
};

/**
 * Without an error handler around its tools, an agent tells its model of an error; with one, the run
 * ends with its cause.
 */
const throwing = createMiddleware({
  name: "throwing",
  async wrapToolCall(request, handler) {
    try {
      return await handler(request);
    } catch (error) {
      throw WaybillError.is(error) ? error.cause : error;
    }
  },
});

async function calling(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, traceparent, signal } = request;
  const [first] = work.messages ?? [];
  // A model derives its arguments from the request.
  const args = (work.input ?? (first && { query: textOf(first) })) as Record<string, unknown>;
  let heard: readonly BaseMessage[] = [];
  const { graph } = createAgent({
    model: usingTools(
      [{ name: capability.name, args, id: step }],
      "done",
      (messages) => (heard = messages),
    ),
    tools: [remoteTool(agent, capability, { to, timeoutMs, session: request.session })],
    middleware: [throwing],
    checkpointer: saverIn(request.folder),
  });
  const thread = { configurable: { thread_id: run }, metadata: { traceparent }, signal };
  const { next } = await graph.getState(thread);
  let input: unknown =
    next.length > 0 ? null : { messages: [{ role: "user", content: "Use the tool." }] };
  for (;;) {
    const { messages } = (await graph.getState(thread)).values as { messages?: unknown[] };
    const used = messages
      ?.filter((each) => ToolMessage.isInstance(each))
      .find((each) => each.tool_call_id === step);
    if (used !== undefined) {
      const { output, messages: said, artifacts, usage } = used.artifact as RemoteArtifact;
      const { name: as } = capability;
      const told = { as, messages: heard.map(toldOf) };
      return { output, messages: said, artifacts, usage: usage?.total, heard: told };
    }
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
    if (!isInterrupted(values)) continue;
    if (values.__interrupt__.length === 0) throw new Error("The agent has stopped in the middle.");
    const resume: Record<string, Json> = {};
    for (const { id, value } of values.__interrupt__) {
      const asked = value as { id: string; text: string };
      resume[id!] = await request.ask(asked.id, asked.text);
    }
    input = new Command({ resume });
  }
}

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import type { AgentConfig } from "@mastra/core/agent";
import { MockMemory } from "@mastra/core/memory";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import type { Tool } from "@mastra/core/tools";
import { currentWork } from "@waybill/agent/adapter";
import { fileOf } from "@waybill/agent/model-messages";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { seenByChat, Stagehand } from "@waybill/conformance/model";
import type { Props, Scenery } from "@waybill/conformance/model";
import type { Message } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, Script } from "@waybill/scripted-model";
import { servedRun } from "./served-run.ts";
import { questionTool } from "./question.ts";
import { remoteTool } from "./remote-tool.ts";
import type { RemoteResult } from "./remote-tool.ts";
import { serveAgent } from "./serve.ts";

/** How the suite uses an agent of Mastra: it is served, and it calls by a tool. */
export const fixture: AdapterFixture = {
  adapter: "mastra",
  module: new URL(import.meta.url),
  gaps: {
    "serve: an image in the messages that a run has added comes back whole":
      "the provider of the suite's model answers only in text; files from another provider come back as files",
    "serve: code in the framework gets the complete history":
      "a message of the AI SDK has no name and no custom members; a user's name is put into the text",
    "serve: artifacts arrive byte for byte":
      "model providers accept only some file types; a tool gets all files, in servedRun",
    "serve: a file that is too large for an envelope arrives byte for byte":
      "model providers accept only some file types; a tool gets all files, in servedRun",
    "call: a refusal reaches the framework as 422, with its reason":
      "Mastra checks the arguments of a tool itself, and reports errors to the model",
  },

  serve: {
    names: ["forecaster"],
    streams: true,
    async offer({ capability, act }) {
      const stagehand = new Stagehand(act, sceneryOf);
      const model = await modelOf((request) => stagehand.reply(request), stagehand.fetch);
      const agent = new Agent({
        id: "forecaster",
        name: "forecaster",
        instructions: "",
        model,
        maxRetries: 0,
        tools: { ask_delegator: questionTool(), ...toolsOf(stagehand.props) },
      });
      new Mastra({ agents: { agent }, logger: false });
      return serveAgent(agent, capability);
    },
  },

  call: { run: called },
};

function sceneryOf(request: ModelRequest): Scenery {
  const { headers } = request;
  const [run, traceparent] = [headers["x-run"] as string, headers["x-trace"] as string];
  return { work: seenByChat(request), run, traceparent, ask: "ask_delegator" };
}

/** An agent whose model hands off once by its tool, and then has nothing to add. */
async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, signal } = request;
  const { messages = [], artifacts } = work;
  const tool = remoteTool(agent, capability, {
    to,
    timeoutMs,
    session: request.session,
    history: () => ({ messages, ...(artifacts === undefined ? {} : { artifacts }) }),
  });
  const given = work.brief ?? work.input ?? {};
  let heard: readonly Message[] = [];
  const model = await modelOf((asked) => {
    if (asked.index === 0) return { calls: [{ id: step, name: tool.id, arguments: given }] };
    heard = seenByChat(asked).messages ?? [];
    return { text: "That is all." };
  });
  const caller = new Agent({
    id: "caller",
    name: "caller",
    instructions: "",
    model,
    maxRetries: 0,
    tools: { [tool.id]: tool },
    memory: new MockMemory(),
  });
  new Mastra({ agents: { caller }, storage: new InMemoryStore(), logger: false });
  const requestContext = new RequestContext();
  requestContext.set("traceparent", request.traceparent);
  const memory = { thread: run, resource: "anna" };
  const options = { runId: run, requestContext, abortSignal: signal, memory };
  let stream = await caller.stream("Find it out.", options);
  for (;;) {
    let got: RemoteResult | undefined;
    let waiting: { toolCallId: string; suspendPayload: { id: string; text: string } } | undefined;
    for await (const { type, payload } of stream.fullStream as AsyncIterable<Chunk>) {
      if (type === "tool-output") request.show(shownIn(payload.output));
      else if (type === "tool-result") got = payload.result as RemoteResult;
      else if (type === "tool-call-suspended") waiting = payload as never;
      else if (type === "error" || type === "tool-error") throw payload.error;
    }
    signal.throwIfAborted();
    if (waiting !== undefined) {
      const { toolCallId, suspendPayload } = waiting;
      const answer = await request.ask(suspendPayload.id, suspendPayload.text);
      stream = await caller.resumeStream({ answer }, { ...options, toolCallId });
      continue;
    }
    if (got === undefined || !("by" in got)) throw new Error("The tool was not used.");
    if ("failure" in got) throw got.failure;
    return { ...got, usage: got.usage?.total, heard: { as: tool.id, messages: heard } };
  }
}

/** What a tool shows: progress, or a part of the remote agent's text. */
function shownIn(output: unknown): string {
  const { message, payload } = output as { message?: string; payload?: { text: string } };
  return message ?? payload!.text;
}

interface Chunk {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A scripted model that knows for which served run it is called. */
export async function modelOf(
  script: Script,
  through?: typeof fetch,
): Promise<AgentConfig["model"]> {
  const { url } = await startScriptedModel(script);
  return ({ requestContext }: { requestContext: RequestContext }) => {
    const run = servedRun(requestContext);
    return createOpenAICompatible({
      name: "scripted",
      baseURL: url,
      apiKey: "none",
      includeUsage: true,
      headers: { "x-run": run?.handoffId ?? "", "x-trace": run?.traceparent ?? "" },
      ...(through === undefined ? {} : { fetch: through }),
    }).chatModel("scripted") as never;
  };
}

function toolsOf(props: Props): Record<string, Tool> {
  const tools = {
    go_on: () => "Go on.",
    weather: (id: string) => props.results.get(id),
    attach: () => props.artifacts.get(currentWork()!.handoffId)!.map(fileOf),
    fail: () => {
      throw props.errors.get(currentWork()!.handoffId)!;
    },
  };
  return Object.fromEntries(
    Object.entries(tools).map(([id, use]) => [
      id,
      createTool({
        id,
        description: "A prop.",
        inputSchema: { type: "object" },
        execute: async (_, { agent }) => use(agent!.toolCallId),
      }),
    ]),
  );
}

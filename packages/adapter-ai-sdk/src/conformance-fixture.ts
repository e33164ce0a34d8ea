import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { dynamicTool, isStepCount, jsonSchema, streamText, ToolLoopAgent } from "ai";
import type { LanguageModel, Tool } from "ai";
import { currentRun } from "@waybill/agent/adapter";
import { fileOf } from "@waybill/agent/model-messages";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { seenByChat, Stagehand } from "@waybill/conformance/model";
import type { Props, Scenery } from "@waybill/conformance/model";
import { WaybillError } from "@waybill/protocol";
import type { Message, StatusCode } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, Script } from "@waybill/scripted-model";
import { questionTool } from "./question.ts";
import type { RemoteOutput, RemoteWorking } from "./remote-output.ts";
import { remoteTool } from "./remote-tool.ts";
import { serveAgent } from "./serve.ts";

/** How the suite uses an agent of the SDK: it is served, and `streamText` calls by a tool. */
export const fixture: AdapterFixture = {
  adapter: "ai-sdk",
  module: new URL(import.meta.url),
  gaps: {
    "serve: an image in the messages that a run has added comes back whole":
      "the provider of the suite's model answers only in text; an image from another provider comes back",
    "serve: code in the framework gets the complete history":
      "a message of the SDK has no name and no custom members; a user's name is put into the text",
    "serve: artifacts arrive byte for byte":
      "model providers accept only some file types; a tool gets all files, in currentRun",
    "serve: a file that is too large for an envelope arrives byte for byte":
      "model providers accept only some file types; a tool gets all files, in currentRun",
  },

  serve: {
    names: ["forecaster"],
    streams: true,
    async offer({ capability, act }) {
      const stagehand = new Stagehand(act, sceneryOf, () => {
        const { handoffId = "", traceparent = "" } = currentRun() ?? {};
        return { "x-run": handoffId, "x-trace": traceparent };
      });
      const model = await modelOf((request) => stagehand.reply(request), stagehand.fetch);
      const tools = { ask_delegator: questionTool(), ...toolsOf(stagehand.props) };
      const onError = () => undefined;
      const agent = new ToolLoopAgent({ id: "forecaster", model, maxRetries: 0, tools, onError });
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

/** A model that hands off once by its tool, and then has nothing to add. */
async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, traceparent, session } = request;
  const { messages = [], artifacts } = work;
  const remote = remoteTool(agent, capability, {
    to,
    timeoutMs,
    run,
    session,
    traceparent,
    history: () => ({ messages, ...(artifacts === undefined ? {} : { artifacts }) }),
    onQuestion: ({ id, text = id }) => request.ask(id, text),
  });
  const given = work.brief ?? work.input ?? {};
  let heard: readonly Message[] = [];
  const model = await modelOf((asked) => {
    if (asked.index === 0) return { calls: [{ id: step, name: "remote", arguments: given }] };
    heard = seenByChat(asked).messages ?? [];
    return { text: "That is all." };
  });
  const { stream } = streamText({
    model,
    prompt: "Find it out.",
    tools: { remote },
    stopWhen: isStepCount(2),
    maxRetries: 0,
    abortSignal: request.signal,
  });
  let got: RemoteOutput | undefined;
  let shown: RemoteWorking = { waybill: "working", text: "" };
  for await (const part of stream) {
    if (part.type === "error" || part.type === "tool-error") throw part.error;
    if (part.type !== "tool-result") continue;
    got = part.output as RemoteOutput;
    if (got.waybill !== "working") continue;
    if (got.progress !== shown.progress) request.show(got.progress!.message!);
    if (got.text !== shown.text) request.show(got.text.slice(shown.text.length));
    shown = got;
  }
  request.signal.throwIfAborted();
  if (got === undefined || got.waybill === "working") throw new Error("The tool was not used.");
  if (got.waybill === "failed") {
    const { status, message, cause } = got;
    throw new WaybillError(status as StatusCode, message, { cause });
  }
  return { ...got, usage: got.usage?.total, heard: { as: "remote", messages: heard } };
}

/** A scripted model. */
export async function modelOf(script: Script, through?: typeof fetch): Promise<LanguageModel> {
  const { url } = await startScriptedModel(script);
  return createOpenAICompatible({
    name: "scripted",
    baseURL: url,
    apiKey: "none",
    includeUsage: true,
    ...(through === undefined ? {} : { fetch: through }),
  }).chatModel("scripted");
}

function toolsOf(props: Props): Record<string, Tool> {
  const tools = {
    go_on: () => "Go on.",
    weather: (id: string) => props.results.get(id),
    attach: () => props.artifacts.get(currentRun()!.handoffId)!.map(fileOf),
    fail: () => {
      throw props.errors.get(currentRun()!.handoffId)!;
    },
  };
  return Object.fromEntries(
    Object.entries(tools).map(([name, use]) => [
      name,
      dynamicTool({
        description: "A prop.",
        inputSchema: jsonSchema({ type: "object" }),
        execute: async (_, { toolCallId }) => use(toolCallId),
      }),
    ]),
  );
}

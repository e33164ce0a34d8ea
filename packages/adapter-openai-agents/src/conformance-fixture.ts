/// <reference types="node" />
import { Buffer } from "node:buffer";
import {
  Agent,
  getCurrentTrace,
  OpenAIProvider,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  tool,
  withTrace,
} from "@openai/agents";
import type { RunStreamEvent, Tool } from "@openai/agents";
import { bytesOf, withFiles } from "@waybill/agent/adapter";
import type { HandoffResult } from "@waybill/agent";
import type { Message } from "@waybill/protocol";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { seenByResponses, Stagehand } from "@waybill/conformance/model";
import type { Props, Scenery } from "@waybill/conformance/model";
import type { ModelRequest } from "@waybill/scripted-model";
import { startScriptedModel } from "@waybill/scripted-model";
import type { Script } from "@waybill/scripted-model";
import OpenAI from "openai";
import { questionTool } from "./question.ts";
import { remoteHandoff } from "./remote-agent.ts";
import { serveAgent } from "./serve.ts";
import { itemsOf } from "./to-items.ts";

// By default the SDK makes no traces under a test runner, and otherwise sends them to OpenAI.
setTracingDisabled(false);
setTraceProcessors([]);

/** How the suite uses an agent of the SDK: it is served, and it hands off. */
export const fixture: AdapterFixture = {
  adapter: "openai-agents",
  module: new URL(import.meta.url),
  gaps: {
    "serve: an image in the messages that a run has added comes back whole":
      "only the text of a model's output is added, not images that its provider generates; tools return theirs as files",
    "serve: code in the framework gets the complete history":
      "an item of the SDK has no name and no custom members; the name is put into the text",
  },

  serve: {
    names: ["forecaster"],
    streams: true,
    async offer({ capability, act }) {
      const stagehand = new Stagehand(act, sceneryOf, () => {
        const { traceId = "", metadata = {} } = getCurrentTrace() ?? {};
        return { "x-run": metadata["handoff_id"] as string, "x-trace": traceId };
      });
      const runner = await runnerOf((request) => stagehand.reply(request), stagehand.fetch);
      const tools = [questionTool(), ...toolsOf(stagehand.props)];
      const agent = new Agent({ name: "forecaster", model: "scripted", tools });
      return serveAgent(agent, capability, { runner });
    },
  },

  call: { run: called },
};

function sceneryOf(request: ModelRequest): Scenery {
  const { headers } = request;
  const id = (headers["x-trace"] as string).slice("trace_".length);
  const run = headers["x-run"] as string;
  return { work: seenByResponses(request), run, traceparent: `00-${id}-`, ask: "ask_delegator" };
}

/** The calling model reports no usage, so that only the remote agent's is left. */
const NOTHING = { input_tokens: 0, output_tokens: 0 };

/** An agent that hands off as soon as it is asked something. */
async function called(request: CallRequest): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work, traceparent, signal } = request;
  let received: HandoffResult | undefined;
  let heard: readonly Message[] = [];
  const remote = remoteHandoff(agent, capability, {
    to,
    timeoutMs,
    session: request.session,
    onQuestion: ({ id, text }) => request.ask(id, text!),
    onResult: (result) => (received = result),
  });
  const given = work.brief ?? work.input ?? {};
  const runner = await runnerOf((asked) => {
    if (asked.index === 0)
      return {
        calls: [{ id: step, name: remote.toolName, arguments: given }],
        usage: NOTHING,
      };
    heard = seenByResponses(asked).messages ?? [];
    return { text: "So it is." };
  });
  const triage = new Agent({ name: "triage", model: "scripted", handoffs: [remote] });
  const messages = work.messages ?? [
    { role: "user", content: [{ type: "text", text: "Find it out." }] },
  ];
  const input = itemsOf(withFiles(messages, work.artifacts ?? []));
  return withTrace(
    "calling",
    async () => {
      const streamed = await runner.run(triage, input, { stream: true, signal });
      for await (const event of streamed) if (received === undefined) show(event, request);
      await streamed.completed;
      signal.throwIfAborted();
      await runner.run(new Agent({ name: "listener", model: "scripted" }), streamed.history);
      const { output, messages: said, artifacts } = received!;
      const { inputTokens: input_tokens, outputTokens: output_tokens } = streamed.state.usage;
      const usage = { input_tokens, output_tokens };
      return {
        output,
        messages: said,
        artifacts,
        usage,
        heard: { inWords: remote.agentName, messages: heard },
      };
    },
    {
      groupId: run,
      ...(traceparent === undefined ? {} : { traceId: `trace_${traceparent.split("-")[1]}` }),
    },
  );
}

function show(event: RunStreamEvent, request: CallRequest): void {
  if (event.type !== "raw_model_stream_event") return;
  if (event.data.type === "output_text_delta") return request.show(event.data.delta);
  if (event.data.type !== "model") return;
  const { progress } = event.data.event as { progress?: { message: string } };
  if (progress !== undefined) request.show(progress.message);
}

async function runnerOf(script: Script, through?: typeof fetch): Promise<Runner> {
  const { url } = await startScriptedModel(script);
  const options = { apiKey: "none", baseURL: url, maxRetries: 0 };
  const client = new OpenAI(through === undefined ? options : { ...options, fetch: through });
  return new Runner({
    modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }),
  });
}

function toolsOf(props: Props): Tool[] {
  const quiet = {
    description: "A prop.",
    parameters: {
      type: "object" as const,
      properties: {},
      required: [],
      additionalProperties: true as const,
    },
    strict: false as const,
    errorFunction: null,
  };
  const run = () => getCurrentTrace()!.metadata!["handoff_id"] as string;
  return [
    tool({ ...quiet, name: "go_on", execute: () => "Go on." }),
    tool({
      ...quiet,
      name: "weather",
      execute: (_: unknown, __, details) => props.results.get(details!.toolCall!.callId),
    }),
    tool({
      ...quiet,
      name: "attach",
      execute: () =>
        props.artifacts.get(run())!.map((artifact) => ({
          type: "file",
          file: {
            data: Buffer.from(bytesOf(artifact)).toString("base64"),
            mediaType: artifact.media_type,
            filename: artifact.name,
          },
        })),
    }),
    tool({
      ...quiet,
      name: "fail",
      execute: () => {
        throw props.errors.get(run())!;
      },
    }),
  ] as Tool[];
}

import { textMessage } from "@waybill/agent/adapter";
import type { AdapterFixture, CallRequest, Played } from "@waybill/conformance";
import { seenByChat, seenByResponses, Stagehand } from "@waybill/conformance/model";
import type { Props, Scenery } from "@waybill/conformance/model";
import { sumUsage } from "@waybill/protocol";
import type { Json, Message } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ModelRequest, Script } from "@waybill/scripted-model";
import OpenAI from "openai";
import { converse } from "./converse.ts";
import type { Conversation } from "./conversation.ts";
import { handoffTool } from "./handoff-tool.ts";
import { serveConversation } from "./serve.ts";
import { localTool, questionTool } from "./tool.ts";
import type { Tool } from "./tool.ts";

/** The calling model reports no usage, so that only the remote agent's is left. */
const NOTHING = { input_tokens: 0, output_tokens: 0 };
const SEEN = { chat: seenByChat, responses: seenByResponses } as const;

/** How the suite uses a conversation: with the real client, and a scripted model. */
export function openaiFixture(
  api: "chat" | "responses",
  module: URL,
  gaps: AdapterFixture["gaps"],
): AdapterFixture {
  return {
    adapter: `openai (${api})`,
    module,
    gaps,
    serve: {
      names: ["forecaster"],
      streams: true,
      async offer({ capability, act }) {
        const stagehand = new Stagehand(act, sceneryOf);
        const client = await clientOf((request) => stagehand.reply(request), stagehand.fetch);
        const tools = [questionTool(), ...toolsOf(stagehand.props)];
        return serveConversation(
          { client, model: "scripted", api, name: "forecaster", tools },
          capability,
        );
      },
    },
    call: { run: (request) => called(request, api) },
  };
}

/** The scene of a model's request. The id of its run begins with that of the served handoff. */
export function sceneryOf(request: ModelRequest): Scenery {
  const { api, headers } = request;
  const [name = ""] = (headers["x-client-request-id"] as string).split("/");
  const run = handoffIn(decodeURIComponent(name));
  const traceparent = headers["traceparent"] as string | undefined;
  return { work: SEEN[api](request), run, traceparent, ask: "ask_delegator" };
}

/** A model that hands off once by its tool, and then has nothing to add. */
async function called(request: CallRequest, api: "chat" | "responses"): Promise<Played> {
  const { agent, capability, to, timeoutMs, run, step, work } = request;
  const tool = handoffTool(agent, capability, { to, timeoutMs, session: request.session });
  const given = work.brief ?? work.input ?? {};
  let heard: readonly Message[] = [];
  const client = await clientOf((asked) => {
    if (asked.index === 0)
      return { calls: [{ id: step, name: tool.name, arguments: given }], usage: NOTHING };
    heard = SEEN[api](asked).messages ?? [];
    return { text: "That is all.", usage: NOTHING };
  });
  const conversation: Conversation = { client, model: "scripted", api, tools: [tool] };
  const reply = await converse(conversation, {
    run,
    messages: work.messages ?? [textMessage("user", "Find it out.")],
    artifacts: work.artifacts,
    signal: request.signal,
    traceparent: request.traceparent,
    // The text of the model itself is not progress of the remote agent.
    onProgress: (event, use) => use && request.show((event as { message: string }).message),
    onQuestion: ({ id, text }) => request.ask(id!, text!),
  });
  // The model was told of the failure and continued; the failure is the outcome of this step.
  const [failure] = reply.failures;
  if (failure !== undefined) throw failure;
  const [got] = reply.messages.filter(({ role }) => role === "tool");
  const { output } = got!.content[0] as { output?: Json };
  const { replies } = got as { replies?: Message[] };
  return {
    output,
    messages: replies,
    artifacts: reply.artifacts,
    usage: sumUsage(reply.usage),
    heard: { as: tool.name, messages: heard },
  };
}

function handoffIn(run: string): string {
  return run.split("/")[0]!;
}

export async function clientOf(script: Script, through?: typeof fetch): Promise<OpenAI> {
  const { url } = await startScriptedModel(script);
  const options = { apiKey: "none", baseURL: url, maxRetries: 0 };
  return new OpenAI(through === undefined ? options : { ...options, fetch: through });
}

export function toolsOf(props: Props): Tool[] {
  const quiet = { description: "A prop.", parameters: { type: "object" } } as const;
  return [
    localTool({ ...quiet, name: "go_on", run: () => "Go on." }),
    localTool({ ...quiet, name: "weather", run: (_, { id }) => props.results.get(id)! }),
    {
      ...quiet,
      name: "attach",
      use: async (_, { run }) => ({
        output: "Done.",
        artifacts: props.artifacts.get(handoffIn(run)),
      }),
    },
    localTool({
      ...quiet,
      name: "fail",
      run: (_, { run }) => {
        throw props.errors.get(handoffIn(run))!;
      },
    }),
  ];
}

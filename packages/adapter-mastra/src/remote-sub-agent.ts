import { MessageList } from "@mastra/core/agent";
import type { SubAgent, SubAgentStreamResult } from "@mastra/core/agent";
import type { RequestContext } from "@mastra/core/request-context";
import {
  filesIn,
  inputOf,
  resultForModel,
  ShownText,
  toolNameOf,
  wordsOfResult,
  workFrom,
} from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Agent, HandoffResult } from "@waybill/agent";
import { describeForModel, digestOf } from "@waybill/protocol";
import type { Capability } from "@waybill/protocol";
import type { ModelMessage } from "@waybill/agent/model-messages";
import { broughtAlong, handedOff } from "./remote.ts";
import type { RemoteOptions, Surroundings } from "./remote.ts";
import { wordsChunk } from "./streamed.ts";

/** What Mastra passes to a sub-agent. */
interface RunContext {
  readonly requestContext?: RequestContext | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** The history of the delegating run. */
  readonly context?: readonly unknown[] | undefined;
}

/** Receives what the remote agent shows. */
type Show = Pick<Surroundings, "progress" | "delta">;

const UNSEEN: Show = { progress: () => undefined, delta: () => undefined };

/**
 * Another agent as a sub-agent: a value for `agents` of an agent of Mastra, which delegates to it.
 */
export function remoteSubAgent(
  agent: Agent,
  capability: Capability,
  options: RemoteOptions = {},
): SubAgent {
  const { name = toolNameOf(capability.name) } = options;
  const remote = { agent, capability, options };
  const ask = (given: unknown, asked: RunContext, show: Show): Promise<HandoffResult> => {
    const prompt = wordsOfPrompt(given);
    // Mastra does not tell a sub-agent the id of its call, so the prompt and the length of the
    // history identify the step.
    const step = `${name}/${asked.context?.length ?? 0}/${digestOf(prompt)}`;
    const said = (asked.context ?? []) as ModelMessage[];
    const along = broughtAlong(options, said, undefined, asked.requestContext);
    return handedOff(remote, step, workOf(prompt, capability, along), {
      requestContext: asked.requestContext,
      runId: undefined,
      signal: asked.abortSignal,
      ...show,
    });
  };
  const stream = async (prompt: unknown, asked: RunContext = {}) => {
    const streamed = { error: undefined as Error | undefined };
    const ended = Promise.withResolvers<string>();
    const used = Promise.withResolvers<unknown>();
    const made = Promise.withResolvers<readonly MadeFiles[]>();
    const fullStream = new ReadableStream({
      async start(controller) {
        const shown = new ShownText();
        const say = (text: string) => controller.enqueue(wordsChunk(name, text));
        const show: Show = {
          progress: (data) => controller.enqueue({ type: "data-waybill-progress", data }),
          delta: (event) => say(shown.add(event)),
        };
        try {
          const result = await ask(prompt, asked, show);
          const rest = shown.restOf(wordsOfResult(result));
          if (rest !== "") say(rest);
          used.resolve(usageOf(result));
          made.resolve(madeFilesOf(result, name));
          // Mastra delegates for a model, which should judge the result and not obey it.
          ended.resolve(resultForModel(result));
        } catch (thrown) {
          // Mastra looks here once the stream is read, and throws it in the delegating run.
          streamed.error = thrown as Error;
          used.resolve(undefined);
          made.resolve([]);
          ended.resolve("");
        }
        controller.close();
      },
    });
    return Object.assign(streamed, {
      fullStream,
      text: ended.promise,
      finishReason: ended.promise.then(() => "stop"),
      usage: used.promise,
      messageList: new MessageList(),
      toolResults: made.promise,
      runId: name,
    });
  };
  const generate = async (prompt: unknown, asked: RunContext = {}) => {
    const result = await ask(prompt, asked, UNSEEN);
    const [text, usage] = [resultForModel(result), usageOf(result)];
    const toolResults = madeFilesOf(result, name);
    return { text, usage, toolResults, finishReason: "stop", runId: name, response: {} };
  };
  return {
    id: name,
    name,
    getDescription: () => describeForModel(capability),
    getModel: () => ({ specificationVersion: "v2", provider: "waybill", modelId: name }),
    // The remote agent has its own memory.
    hasOwnMemory: () => true,
    __setMemory: () => undefined,
    getMemory: () => undefined,
    getInstructions: () => "",
    generate,
    stream,
    // It never suspends: its delegator is asked while it runs.
    resumeGenerate: generate,
    resumeStream: stream,
  } as unknown as SubAgent;
}

type MadeFiles = NonNullable<Awaited<SubAgentStreamResult["toolResults"]>>[number];

/** Mastra takes files from a sub-agent as results of its tools, which it shows to no model. */
function madeFilesOf({ artifacts, digest }: HandoffResult, name: string): MadeFiles[] {
  if (artifacts.length === 0) return [];
  return [{ payload: { toolName: name, toolCallId: digest, result: { artifacts } } }];
}

/** The usage of the agent, with the names of the AI SDK. */
function usageOf({ usage }: HandoffResult) {
  if (usage === undefined) return undefined;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage.total;
  const { cached_input_tokens: cachedInputTokens, reasoning_tokens: reasoningTokens } = usage.total;
  const totalTokens = inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens };
}

function workOf(
  prompt: string,
  capability: Capability,
  { messages, artifacts }: ReturnType<typeof broughtAlong>,
): PortableWork {
  const brief = { instruction: prompt };
  if (capability.takes !== "structured") return workFrom(brief, capability, messages, artifacts);
  const input = inputOf({ brief }, capability.input_schema);
  const files = filesIn(messages, artifacts);
  return files.length === 0 ? { input } : { input, artifacts: files };
}

/** Mastra delegates a prompt as one message of a user. */
function wordsOfPrompt(prompt: unknown): string {
  if (typeof prompt === "string") return prompt;
  if (Array.isArray(prompt)) return prompt.map(wordsOfPrompt).join("\n\n");
  const { content, parts, text } = prompt as Record<string, unknown>;
  return wordsOfPrompt(content ?? parts ?? text ?? "");
}

import { dynamicTool, jsonSchema } from "ai";
import type { Tool, ToolExecutionOptions } from "ai";
import type { Agent, HandoffResult, QuestionEvent } from "@waybill/agent";
import {
  argumentsOf,
  call,
  conversationHere,
  currentRun,
  failureToTell,
  refuseQuestion,
  remoteToolCard,
  sessionFor,
  workFrom,
} from "@waybill/agent/adapter";
import type { CallSession, OnFailure, PortableWork, Run } from "@waybill/agent/adapter";
import { messagesOf, openCallsOf } from "@waybill/agent/model-messages";
import type { ModelMessage } from "@waybill/agent/model-messages";
import { WaybillError } from "@waybill/protocol";
import type { Capability, Json } from "@waybill/protocol";
import { doneOf, failedOf, isRemoteOutput, toldOf } from "./remote-output.ts";
import type { RemoteOutput } from "./remote-output.ts";
import { Working } from "./working.ts";

/** What the SDK tells a tool of its call. */
export type ToolCallOptions = ToolExecutionOptions<Record<string, unknown>>;

/** Options for a capability of another agent as a tool of the SDK. */
export interface RemoteToolOptions {
  /** Its name for the description, by default derived from the capability. */
  readonly name?: string | undefined;
  /** The agent it goes to. By default the hub picks an agent that has the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * Identifies the run, also when it is repeated: the id of a chat, of a request or of a job. By
   * default the handoff that the run serves; anywhere else it has to be given.
   */
  readonly run?: string | ((options: ToolCallOptions) => string | undefined) | undefined;
  /**
   * The session to hand off in; `true` for the session of the handoff that the run serves, or else of
   * `run`. By default, each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
  /**
   * Whether the model is told of a failure as data, or the tool throws it, which ends a served run.
   * By default a served run ends, and the model of any other run is told.
   */
  readonly onFailure?: OnFailure | undefined;
  /**
   * Answers the remote agent's questions. By default they go to the delegator of the served run, or
   * are refused. While it waits, the preliminary result has the question.
   */
  readonly onQuestion?: ((question: QuestionEvent) => Promise<Json>) | undefined;
  /**
   * What is sent along, by default the messages that the SDK gives to the tool, and the files of the
   * served run.
   */
  readonly history?: (() => Pick<PortableWork, "messages" | "artifacts">) | undefined;
  /** W3C trace context, by default that of OpenTelemetry or of the served run. */
  readonly traceparent?: string | undefined;
  /** Called with the complete result. */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
}

/**
 * A capability of another agent as a tool of the SDK. Its progress and its text are streamed as
 * preliminary results, which `toUIMessageStream` carries to a page.
 *
 * @example
 * ```ts
 * const [found] = (await hub.find({ capability: "web_research" })).fits;
 * const tools = { research: remoteTool(agent, found.capability, { run: chatId }) };
 * const { stream } = streamText({ model, messages, tools, stopWhen: isStepCount(5) });
 * ```
 */
export function remoteTool(
  agent: Agent,
  capability: Capability,
  options: RemoteToolOptions = {},
): Tool {
  const { description, by } = remoteToolCard(capability, options);
  return dynamicTool({
    description,
    inputSchema: jsonSchema(argumentsOf(capability) as object),
    toModelOutput: ({ output }) =>
      isRemoteOutput(output)
        ? { type: "text", value: toldOf(output) }
        : { type: "json", value: (output ?? null) as Json },
    async *execute(given, called): AsyncGenerator<RemoteOutput> {
      const served = currentRun();
      const { onFailure = served === undefined ? "tell" : "throw" } = options;
      const working = new Working();
      const stop = new AbortController();
      const { abortSignal = stop.signal } = called;
      const signal = AbortSignal.any([abortSignal, stop.signal]);
      const ended = handedOff(
        { agent, capability, options },
        given as Json,
        { ...called, abortSignal: signal },
        working,
      );
      // The SDK leaves a generator that it does not wait for any more.
      try {
        yield* working.until(ended);
        yield doneOf(await ended);
      } catch (thrown) {
        const failure = failureToTell(thrown, onFailure, signal);
        if (failure === undefined) throw thrown;
        yield failedOf(by, failure);
      } finally {
        stop.abort();
      }
    },
  });
}

interface Remote {
  readonly agent: Agent;
  readonly capability: Capability;
  readonly options: RemoteToolOptions;
}

async function handedOff(
  { agent, capability, options }: Remote,
  given: Json,
  called: ToolCallOptions,
  working: Working,
): Promise<HandoffResult> {
  const served = currentRun();
  const { to, timeoutMs, traceparent } = options;
  const { toolCallId: step, abortSignal: signal } = called;
  const run = runOf(options, called, served);
  const { messages = [], artifacts } = options.history?.() ?? {
    messages: messagesOf(saidBefore(called), undefined),
    artifacts: served?.work.artifacts,
  };
  const result = await call(agent, {
    step: { run, step },
    capability: capability.name,
    to,
    timeoutMs,
    session: sessionFor(options.session, conversationHere(run)),
    ...workFrom(given, capability, messages, artifacts),
    traceparent,
    signal,
    // Inside a served run, both go on to its delegator.
    onProgress: (event) => {
      const { message, fraction, data } = event;
      if (served === undefined) working.progress(event);
      else served.progress({ message, fraction, data });
    },
    onDelta: served === undefined ? (event) => working.delta(event) : undefined,
    onQuestion: (question) => answered(question, step, options, served, working),
  });
  options.onResult?.(result);
  return result;
}

/** After an approval, the SDK's messages end with the call itself and its approval. */
function saidBefore({ messages, toolCallId }: ToolCallOptions): readonly ModelMessage[] {
  const all = messages as readonly ModelMessage[];
  const at = openCallsOf(all).some((open) => open.toolCallId === toolCallId)
    ? all.findLastIndex(({ role }) => role === "assistant")
    : all.length;
  return all.slice(0, at);
}

/** The questions of a served run's parts are its own. */
function answered(
  question: QuestionEvent,
  step: string,
  { onQuestion }: RemoteToolOptions,
  served: Run | undefined,
  working: Working,
): Promise<Json> {
  if (onQuestion !== undefined) return working.question(question, onQuestion(question));
  if (served === undefined) return refuseQuestion(question);
  const { id, text, data, schema } = question;
  return served.ask({ id: `${step}/${id}`, text, data, schema });
}

function runOf(
  { run }: RemoteToolOptions,
  called: ToolCallOptions,
  served: Run | undefined,
): string {
  const name = (typeof run === "function" ? run(called) : run) ?? served?.handoffId;
  if (name !== undefined) return name;
  throw new WaybillError(
    422,
    "The run has no name, so its handoffs could not be found again: set the run of the remote tool, such as the id of the chat.",
  );
}

import type { RequestContext } from "@mastra/core/request-context";
import { call, refuseQuestion, sessionFor } from "@waybill/agent/adapter";
import type { CallSession, PortableWork } from "@waybill/agent/adapter";
import { messagesOf } from "@waybill/agent/model-messages";
import type { ModelMessage } from "@waybill/agent/model-messages";
import type {
  Agent,
  DeltaEvent,
  HandoffResult,
  ProgressEvent,
  QuestionEvent,
} from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Capability, Json, Message } from "@waybill/protocol";
import { servedRun } from "./served-run.ts";

/** Options for another agent in Mastra: its name there, and the recipient of its handoffs. */
export interface RemoteOptions {
  /** Its name in Mastra, by default derived from the capability. */
  readonly name?: string | undefined;
  /** The agent it goes to. By default the hub picks an agent that has the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for the session of the handoff that the run serves, or else,
   * for a tool, of the thread of the agent's memory. By default, each handoff is a conversation of
   * its own.
   */
  readonly session?: CallSession;
  /**
   * Identifies the run, also when it is repeated. By default the handoff that the run serves, or
   * Mastra's run id.
   */
  readonly run?: ((context: RequestContext | undefined) => string | undefined) | undefined;
  /**
   * Answers the remote agent's questions. By default they go to the delegator of the served run, or
   * suspend Mastra's run.
   */
  readonly onQuestion?: ((question: QuestionEvent) => Promise<Json>) | undefined;
  /**
   * What is sent along, by default the run's history as Mastra has it, and the files of the served
   * run.
   */
  readonly history?: (() => Pick<PortableWork, "messages" | "artifacts">) | undefined;
  /** Called with the complete result, with the messages and files of which a model is only told. */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
}

export interface Remote {
  readonly agent: Agent;
  readonly capability: Capability;
  readonly options: RemoteOptions;
}

/** What Mastra says of the run that hands off. */
export interface Surroundings {
  readonly requestContext: RequestContext | undefined;
  readonly runId: string | undefined;
  /** The thread of the agent's memory, if Mastra passes it. */
  readonly thread?: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Answers by suspending. Undefined if the run can't be suspended. */
  readonly suspend?: ((question: QuestionEvent) => Promise<Json>) | undefined;
  progress(event: Pick<ProgressEvent, "message" | "fraction" | "data">): void | Promise<void>;
  /** Adds to the stream of text. */
  delta(event: DeltaEvent): void | Promise<void>;
}

/** Hands off one step of a run. */
export async function handedOff(
  { agent, capability, options }: Remote,
  step: string,
  work: PortableWork,
  surroundings: Surroundings,
): Promise<HandoffResult> {
  const { requestContext, runId, signal } = surroundings;
  const { to, timeoutMs, onQuestion = surroundings.suspend ?? refuseQuestion } = options;
  const served = servedRun(requestContext);
  const run = options.run?.(requestContext) ?? served?.handoffId ?? runId;
  if (run === undefined) throw unnamed();
  const result = await call(agent, {
    step: { run, step },
    capability: capability.name,
    to,
    timeoutMs,
    session: sessionFor(options.session, served?.thread ?? surroundings.thread),
    ...work,
    // A served run has the trace context of its handoff.
    traceparent: served === undefined ? traceparentIn(requestContext) : undefined,
    signal,
    onProgress: ({ message, fraction, data }) => surroundings.progress({ message, fraction, data }),
    onDelta: (event) => surroundings.delta(event),
    onQuestion: (question) => {
      if (options.onQuestion !== undefined || served === undefined) return onQuestion(question);
      const { id, text, data, schema } = question;
      return served.ask({ id: `${step}/${id}`, text, data, schema });
    },
  });
  options.onResult?.(result);
  return result;
}

/**
 * What is sent along with a handoff: the history that Mastra has, unless the application provides
 * more.
 */
export function broughtAlong(
  { history }: RemoteOptions,
  said: readonly ModelMessage[],
  by: string | undefined,
  requestContext: RequestContext | undefined,
): { messages: readonly Message[]; artifacts: readonly Artifact[] | undefined } {
  const { messages = [], artifacts } = history?.() ?? {
    messages: messagesOf(said, by),
    artifacts: servedRun(requestContext)?.work.artifacts,
  };
  return { messages, artifacts };
}

function traceparentIn(context: RequestContext | undefined): string | undefined {
  const traceparent: unknown = context?.get("traceparent");
  return typeof traceparent === "string" ? traceparent : undefined;
}

function unnamed(): WaybillError {
  return new WaybillError(
    422,
    "The run has no name, so its handoffs could not be found again: set the run of the remote agent.",
  );
}

import type { RequestContext } from "@mastra/core/request-context";
import { call, refuseQuestion, sessionFor } from "@waybill/agent/adapter";
import type { CallSession, PortableWork } from "@waybill/agent/adapter";
import type {
  Agent,
  DeltaEvent,
  HandoffResult,
  ProgressEvent,
  QuestionEvent,
} from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Artifact, Capability, Json, Message } from "@waybill/protocol";
import { messagesOf } from "./from-model.ts";
import type { ModelMessage } from "./model-message.ts";
import { servedRun } from "./served-run.ts";

/** How another agent stands in Mastra: its name there, and whom its handoffs go to. */
export interface RemoteOptions {
  /** What it is called in Mastra; left out, after the capability. */
  readonly name?: string | undefined;
  /** The agent it goes to. Left out: the hub picks among those who have the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for that of the handoff that
   * the run serves, or else, for a tool, the thread of the agent's memory. Left out, each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
  /** Names the run, the same again when it is run again. Left out: the handoff that the run serves, or Mastra's run. */
  readonly run?: ((context: RequestContext | undefined) => string | undefined) | undefined;
  /** Answers what the remote agent asks. Left out: whom the run serves is asked, or Mastra's run is suspended. */
  readonly onQuestion?: ((question: QuestionEvent) => Promise<Json>) | undefined;
  /** What goes along. Left out: the run's history as Mastra has it, and the files of the run that is served. */
  readonly history?: (() => Pick<PortableWork, "messages" | "artifacts">) | undefined;
  /** Has the result whole, with the messages and files of which a model is told. */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
}

export interface Remote {
  readonly agent: Agent;
  readonly capability: Capability;
  readonly options: RemoteOptions;
}

/** What Mastra says of the run in which something is handed off. */
export interface Surroundings {
  readonly requestContext: RequestContext | undefined;
  readonly runId: string | undefined;
  /** The thread of the agent's memory, where Mastra tells it. */
  readonly thread?: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Answers by suspending. Left out where the run can't be. */
  readonly suspend?: ((question: QuestionEvent) => Promise<Json>) | undefined;
  progress(event: Pick<ProgressEvent, "message" | "fraction" | "data">): void | Promise<void>;
  /** Into the stream of words. */
  delta(event: DeltaEvent): void | Promise<void>;
}

/** Hands one step of a run off. */
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
    // A run that is served has the place of its handoff in the trace.
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

/** What goes along with what is handed off: what Mastra has of the run, where the application has no more. */
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

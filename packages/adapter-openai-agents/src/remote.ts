import { getCurrentTrace } from "@openai/agents";
import {
  call,
  conversationHere,
  currentWork,
  filesIn,
  inputOf,
  refuseQuestion,
  sessionFor,
} from "@waybill/agent/adapter";
import type { CallSession, PortableWork } from "@waybill/agent/adapter";
import type {
  Agent,
  DeltaEvent,
  HandoffResult,
  ProgressEvent,
  QuestionEvent,
} from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Capability, Json } from "@waybill/protocol";
import { currentServedRun } from "./served-run.ts";
import { currentTraceparent } from "./trace.ts";
import { sdkUsage } from "./usage.ts";

/** Options for another agent in the SDK: its name there, and the recipient of its handoffs. */
export interface RemoteOptions {
  /** Its name in the SDK, by default derived from the capability. */
  readonly name?: string | undefined;
  /** The agent it goes to. By default the hub picks an agent that has the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for the session of the handoff that the run serves, or else
   * of the trace's group. By default, each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
  /**
   * Identifies the run, also when it is repeated. By default the handoff that the run serves, the
   * trace's group, or the trace.
   */
  readonly run?: (() => string) | undefined;
  /**
   * Answers the remote agent's questions. By default they go to the delegator of the served run, or
   * to nobody.
   */
  readonly onQuestion?: ((question: QuestionEvent) => Promise<Json>) | undefined;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
  /**
   * Called with the complete result, with the messages and files that an answer in the SDK can't
   * hold.
   */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
}

export interface Remote {
  readonly agent: Agent;
  readonly capability: Capability;
  readonly options: RemoteOptions;
}

/** Hands off one step of a run. */
export async function handedOff(
  { agent, capability, options }: Remote,
  step: string,
  work: PortableWork,
  signal: AbortSignal | undefined,
  onProgress: (event: ProgressEvent) => void,
  onDelta?: (event: DeltaEvent) => void,
): Promise<HandoffResult> {
  const course = currentServedRun();
  const { to, timeoutMs, onQuestion } = options;
  const result = await call(agent, {
    step: { run: runName(options), step },
    capability: capability.name,
    to,
    timeoutMs,
    session: sessionFor(options.session, conversationHere(groupName())),
    ...work,
    // A served run has the trace context of its handoff.
    traceparent: currentWork() === undefined ? currentTraceparent() : undefined,
    signal,
    onProgress: (event) => {
      options.onProgress?.(event);
      onProgress(event);
    },
    onDelta,
    onQuestion: (question) => {
      if (onQuestion !== undefined) return onQuestion(question);
      if (course === undefined) return refuseQuestion(question);
      const { id, text, data, schema } = question;
      return course.ask({ id: `${step}/${id}`, text, data, schema });
    },
  });
  course?.remote.add(sdkUsage(result.usage));
  course?.files.push(...result.artifacts);
  options.onResult?.(result);
  return result;
}

/** The work for a remote agent that takes a value, if there is only text. */
export function inputFrom(work: PortableWork, { takes, input_schema }: Capability): PortableWork {
  if (takes !== "structured") return work;
  const { messages = [], artifacts } = work;
  const input = inputOf(work, input_schema);
  const files = filesIn(messages, artifacts);
  return files.length === 0 ? { input } : { input, artifacts: files };
}

function runName({ run }: RemoteOptions): string {
  const name = run?.() ?? currentWork()?.handoffId ?? tracedAs();
  if (name !== undefined) return name;
  throw new WaybillError(
    422,
    "The run has no name, so its handoffs could not be found again: set the groupId of the runner, or the run of the remote agent.",
  );
}

/** The SDK's id of a conversation of several runs. */
function groupName(): string | undefined {
  return getCurrentTrace()?.groupId ?? undefined;
}

function tracedAs(): string | undefined {
  const { groupId, traceId } = getCurrentTrace() ?? {};
  // Without tracing there is a trace too, with the same id in every run.
  return traceId === undefined || traceId === "no-op" ? undefined : (groupId ?? traceId);
}

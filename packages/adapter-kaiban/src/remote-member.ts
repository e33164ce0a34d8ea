import {
  call,
  filesIn,
  inputOf,
  markedAsData,
  refuseQuestion,
  sessionFor,
  wordsOfResult,
} from "@waybill/agent/adapter";
import type { CallSession, PortableWork, Run } from "@waybill/agent/adapter";
import type { Agent, HandoffResult, ProgressEvent, QuestionEvent } from "@waybill/agent";
import type { Brief, Capability, Json } from "@waybill/protocol";
import type { KaibanAgentClass } from "./kaiban.ts";
import { memberOf } from "./member.ts";
import type { KaibanAssignment, MemberOptions } from "./member.ts";
import { filesOf, markResult } from "./results.ts";

/** Options for another agent as a member of a KaibanJS team. */
export interface RemoteMemberOptions extends Partial<MemberOptions> {
  /**
   * The served run, which relays the remote agent's questions and progress; or a name for a run of
   * its own.
   */
  readonly run: Run | string;
  /** The agent it goes to. By default the hub picks an agent that has the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for the session of the handoff that the run serves, or else
   * of the run's name. By default, each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
  /** What is sent besides the task, by default the history and files of the served run. */
  readonly request?: Pick<PortableWork, "messages" | "artifacts"> | undefined;
  /** The input for a capability that takes a value, by default made from the task's text. */
  readonly input?: ((assignment: KaibanAssignment) => Json | undefined) | undefined;
  readonly traceparent?: string | undefined;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
  readonly onQuestion?: ((question: QuestionEvent) => Promise<Json>) | undefined;
  /** Called with the complete result: a task of KaibanJS yields only text or a value. */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
  /** Called with the original error: a team keeps only its message. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/**
 * Another agent as an agent of KaibanJS.
 *
 * @example
 * ```ts
 * const [found] = (await hub.find({ capability: "research" })).fits;
 * const researcher = remoteMember(Agent, agent, found.capability, { run });
 * const team = new Team({ name: "newsroom", agents: [researcher], tasks: [research] });
 * ```
 */
export function remoteMember<KaibanAgent>(
  Agent: KaibanAgentClass<KaibanAgent>,
  agent: Agent,
  capability: Capability,
  options: RemoteMemberOptions,
): KaibanAgent {
  const {
    to,
    timeoutMs,
    session,
    run,
    name = to ?? capability.name,
    role = capability.name,
  } = options;
  const { goal = capability.description ?? capability.name, traceparent } = options;
  const served = typeof run === "string" ? undefined : run;
  const { onProgress, onQuestion = refuseQuestion } = options;
  return memberOf(Agent, { name, role, goal }, async (assignment, store) => {
    const { task, signal } = assignment;
    const handedOff = call(agent, {
      // The ids that KaibanJS assigns differ between processes.
      step: {
        run: served?.handoffId ?? (run as string),
        step: task.referenceId || task.title || name,
      },
      capability: capability.name,
      to,
      timeoutMs,
      session: sessionFor(session, served?.thread ?? (run as string)),
      ...workOf(assignment, capability, requestFor(options, served, store), options.input),
      traceparent,
      signal,
      onProgress: (event) => {
        const { message, fraction, data } = event;
        served?.progress({ message, fraction, data });
        onProgress?.(event);
      },
      onQuestion: (question) => {
        if (options.onQuestion !== undefined || served === undefined) return onQuestion(question);
        const { id, text, data, schema } = question;
        return served.ask({ id: `${task.title}/${id}`, text, data, schema });
      },
    });
    handedOff.catch((thrown: unknown) => options.onFailure?.(thrown));
    const result = await handedOff;
    options.onResult?.(result);
    const artifacts = filesIn(result.messages, result.artifacts);
    const isText = result.output === undefined || typeof result.output === "string";
    const output = isText ? wordsOfResult(result) : result.output!;
    markResult(store, task, { by: name, output, artifacts });
    return output;
  });
}

/** The work to send, with the files that earlier remote members have returned. */
function requestFor(
  { request }: RemoteMemberOptions,
  served: Run | undefined,
  store: object,
): RemoteMemberOptions["request"] & object {
  const { messages, artifacts: given = [] } = request ?? served?.work ?? {};
  const artifacts = [...given, ...filesOf(store)];
  return { messages, artifacts: artifacts.length === 0 ? undefined : artifacts };
}

function workOf(
  assignment: KaibanAssignment,
  { takes, input_schema }: Capability,
  { messages, artifacts }: Pick<PortableWork, "messages" | "artifacts">,
  inputFor: RemoteMemberOptions["input"],
): PortableWork {
  const words = {
    brief: briefOf(assignment),
    ...(messages === undefined ? {} : { messages }),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
  const given = inputFor?.(assignment);
  if (given !== undefined) return { ...words, input: given };
  return takes === "structured" ? { ...words, input: inputOf(words, input_schema) } : words;
}

function briefOf({ task, context }: KaibanAssignment): Brief {
  const description = task.interpolatedTaskDescription ?? task.description;
  const instruction =
    context.trim() === ""
      ? description
      : `${description}\n\nWhat the tasks before have come to:\n${markedAsData("The team", context)}`;
  return { instruction, expected_output: task.expectedOutput };
}

import type { Agent } from "@mastra/core/agent";
import {
  conversationOf,
  endOfRun,
  modelFailure,
  offerOf,
  outputOf,
  textMessage,
} from "@waybill/agent/adapter";
import type { ErrorTable, Finished, Offer, Paused, Run } from "@waybill/agent/adapter";
import {
  artifactsIn,
  messagesOf,
  modelMessagesOf,
  openCallsOf,
  toolResult,
} from "@waybill/agent/model-messages";
import type { ModelMessage } from "@waybill/agent/model-messages";
import type { Artifact, CapabilityInput, Json } from "@waybill/protocol";
import { requestContextOf } from "./served-run.ts";
import { dataOfAnswer, questionOf, questionOfSuspension } from "./question.ts";
import type { Suspension } from "./question.ts";
import { takeOutput, usageOf } from "./streamed.ts";
import type { Chunk } from "./streamed.ts";
import { namesIn } from "./names.ts";
import { threadFor } from "./thread.ts";
import type { Thread } from "./thread.ts";
import { onLinesOfTheirOwn } from "./to-model.ts";

// Any agent can be served, whatever its tools and context.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyAgent = Agent<any, any, any, any>;
type Stream = Awaited<ReturnType<AnyAgent["stream"]>>;

const ERRORS: ErrorTable = { MastraTimeoutError: 504 };

/** Options for serving an agent of Mastra. */
export interface ServeAgentOptions {
  /** The maximum number of steps of the agent, by default Mastra's own limit. */
  readonly maxSteps?: number | undefined;
  /**
   * The names of sub-agents that depend on a request, so that nobody else speaks under these names.
   * Static sub-agents are found without it.
   */
  readonly names?: readonly string[] | undefined;
}

/** The progress of a run, as JSON. */
interface State {
  /** Includes the calls that wait for answers. */
  readonly added: readonly ModelMessage[];
  readonly artifacts: readonly Artifact[];
  /** Tools that have suspended Mastra's own run, whose state is in Mastra's storage. */
  readonly suspended: readonly Suspension[];
}

/**
 * An agent of Mastra as a capability. Handoffs of one session are one thread of the agent's memory,
 * which belongs to a resource of its own: a thread of one delegator exposes nothing of another.
 *
 * @example
 * ```ts
 * agent.serve(...serveAgent(editor, { name: "edit" }));
 * ```
 */
export function serveAgent(
  agent: AnyAgent,
  capability: CapabilityInput,
  options: ServeAgentOptions = {},
): Offer {
  return offerOf({
    capability,
    errors: ERRORS,
    names: [...namesIn(agent), ...(options.names ?? [])],
    // Mastra's own memory keeps the history; without it, the history is kept in the memory of the
    // process.
    keepsTranscripts: !agent.hasOwnMemory(),
    run: (run) => held(agent, run, options),
  });
}

async function held(
  agent: AnyAgent,
  run: Run,
  options: ServeAgentOptions,
): Promise<Finished | Paused> {
  const { work, resume } = run;
  const thread = await threadFor(agent, run);
  const { output_schema: schema } = run.capability;
  const turns = conversationOf(work, schema);
  const history = onLinesOfTheirOwn(
    modelMessagesOf(turns, { self: agent.name, artifacts: work.artifacts }),
  );
  const goOn = (before: State) =>
    turn(thread, run, options, before, (more) =>
      agent.stream([...history, ...before.added] as never, more),
    );
  const before = resume && (JSON.parse(resume.state) as State);
  let said =
    before === undefined
      ? await goOn({ added: [], artifacts: [], suspended: [] })
      : before.suspended.length > 0
        ? await awoken(agent, thread, run, options, before, resume!.answers)
        : await goOn(answered(before, resume!.answers));
  const questions = [
    ...said.suspended.map(questionOfSuspension),
    ...(said.suspended.length > 0 ? [] : openCallsOf(said.added).map(questionOf)),
  ];
  if (questions.length > 0) return { questions, state: JSON.stringify(said) };
  const again = async (request: string): Promise<string> => {
    const asked = modelMessagesOf([textMessage("user", request)]);
    said = await goOn({ ...said, added: [...said.added, ...asked] });
    return lastWords(said.added);
  };
  const output = await outputOf(lastWords(said.added), schema, again);
  await thread?.keep([...history, ...said.added]);
  const messages = work.messages && messagesOf(said.added, agent.name);
  return { output, messages, artifacts: said.artifacts };
}

/** The answer to a question is the result of its tool call. */
function answered(state: State, answers: ReadonlyMap<string, Json>): State {
  const content = openCallsOf(state.added).map(({ toolCallId, toolName }) =>
    toolResult(toolCallId, toolName, answers.get(toolCallId) ?? null),
  );
  return { ...state, added: [...state.added, { role: "tool", content }] };
}

/** Resumes suspended tools one after the other: each has its own stream. */
async function awoken(
  agent: AnyAgent,
  thread: Thread | undefined,
  run: Run,
  options: ServeAgentOptions,
  before: State,
  answers: ReadonlyMap<string, Json>,
): Promise<State> {
  let state = before;
  for (const suspension of before.suspended) {
    const { toolCallId } = suspension;
    const data = dataOfAnswer(suspension, answers.get(toolCallId) ?? null);
    const rest = state.suspended.filter((each) => each.toolCallId !== toolCallId);
    state = await turn(thread, run, options, { ...state, suspended: [] }, (more) =>
      agent.resumeStream(data, { ...more, toolCallId }),
    );
    const open = [...rest, ...state.suspended];
    const ids = new Set(open.map((each) => each.toolCallId));
    state = { ...state, suspended: open.filter((each) => ids.delete(each.toolCallId)) };
  }
  return state;
}

/** Runs the agent until it is done or waits. */
async function turn(
  thread: Thread | undefined,
  run: Run,
  { maxSteps }: ServeAgentOptions,
  { added, artifacts }: State,
  start: (options: object) => Promise<Stream>,
): Promise<State> {
  const stop = new AbortController();
  const made: Artifact[] = [];
  const suspended: Suspension[] = [];
  const take = ({ type, payload, data }: Chunk): void => {
    if (type.startsWith("data-")) run.progress(data);
    else if (type === "text-delta") run.delta(payload.text as string);
    else if (type === "tool-output") made.push(...takeOutput(payload, run));
    else if (type === "tool-result") made.push(...artifactsIn(payload.result));
    else if (type === "step-finish") run.addUsage(usageOf(payload));
    else if (type === "file") made.push(...artifactsIn(payload));
    else if (type === "error") throw modelFailure(payload.error);
    else if (type === "tool-error") endOfRun(payload.error);
    else if (type === "tool-call-suspended" || type === "tool-call-approval")
      suspended.push({
        ...(payload as unknown as Suspension),
        isApproval: type.endsWith("approval"),
      });
  };
  try {
    const stream = await start({
      runId: run.handoffId,
      abortSignal: AbortSignal.any([run.signal, stop.signal]),
      requestContext: requestContextOf(run),
      ...thread?.options,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      ...(run.traceparent === undefined ? {} : { tracingOptions: tracingOf(run.traceparent) }),
    });
    for await (const chunk of stream.fullStream as AsyncIterable<Chunk>) take(chunk);
    run.signal.throwIfAborted();
    const { messages = [] } = (await stream.response) as unknown as { messages?: ModelMessage[] };
    return {
      added: suspended.length > 0 ? added : [...added, ...messages],
      artifacts: [...artifacts, ...made],
      suspended,
    };
  } catch (thrown) {
    // An agent of Mastra continues when its stream is abandoned, so it is aborted.
    stop.abort(thrown);
    throw thrown;
  }
}

function tracingOf(traceparent: string): { traceId: string; parentSpanId: string } {
  const [, traceId = "", parentSpanId = ""] = traceparent.split("-");
  return { traceId, parentSpanId };
}

/** An agent that says nothing adds no message; the last one is not its own then. */
function lastWords(added: readonly ModelMessage[]): string {
  const last = added.at(-1);
  if (last?.role !== "assistant") return "";
  const [message] = messagesOf([last], "");
  return message!.content.flatMap(({ text }) => text ?? []).join("");
}

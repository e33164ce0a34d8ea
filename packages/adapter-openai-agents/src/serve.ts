import { Runner, RunState, Usage } from "@openai/agents";
import type {
  Agent,
  AgentInputItem,
  RunStreamEvent,
  Session,
  StreamedRunResult,
} from "@openai/agents";
import {
  conversationOf,
  modelFailure,
  offerOf,
  outputOf,
  shownByUsers,
  textMessage,
  withFiles,
} from "@waybill/agent/adapter";
import type { ErrorTable, Finished, Offer, Paused, Run } from "@waybill/agent/adapter";
import { digestOf, WaybillError } from "@waybill/protocol";
import type { Artifact, CapabilityInput, Json } from "@waybill/protocol";
import { withServedRun } from "./served-run.ts";
import type { ServedRun } from "./served-run.ts";
import { artifactsIn, turnsOf } from "./from-items.ts";
import type { SpokenItem } from "./from-items.ts";
import { questionsOf, settle } from "./question.ts";
import { itemsOf } from "./to-items.ts";
import { inTrace } from "./trace.ts";
import { turnIn } from "./turn-session.ts";
import { countsOf, countsSince, less } from "./usage.ts";

// Any agent can be served, whatever its context and output.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyAgent = Agent<any, any>;
type Streamed = StreamedRunResult<unknown, AnyAgent>;

/** Options for serving an agent of the OpenAI Agents SDK. */
export interface ServeAgentOptions {
  /** Configures the models and their hosts, by default a runner with the SDK's defaults. */
  readonly runner?: Runner | undefined;
  /**
   * The SDK's session for a thread. All handoffs of one delegator's session have the same thread; a
   * handoff without a session has its own id as thread. A turn is stored once the run is over. By
   * default, what is said in a session is kept in the memory of the process.
   *
   * If a process is killed after it has stored a turn and before it has sent the result, the next
   * attempt stores the turn again: the SDK's `addItems` has no idempotency key. `part` is that key.
   * It identifies what the run adds, and is the same in each attempt. A session that uses it
   * replaces what it has stored under it, and omits that from `getItems`.
   */
  readonly session?: ((thread: string, part: string) => Session | Promise<Session>) | undefined;
  /** The context for the agent's tools. */
  readonly context?: ((run: Run) => unknown) | undefined;
  readonly turnsAtMost?: number | undefined;
}

const ERRORS: ErrorTable = { MaxTurnsExceededError: 508 };

/**
 * An agent of the SDK as a capability.
 *
 * @example
 * ```ts
 * const editor = new Agent({ name: "editor", instructions: "You edit texts." });
 * agent.serve(...serveAgent(editor, { name: "edit" }));
 * ```
 */
export function serveAgent(
  agent: AnyAgent,
  capability: CapabilityInput,
  options: ServeAgentOptions = {},
): Offer {
  const runner = options.runner ?? new Runner();
  return offerOf({
    capability,
    errors: ERRORS,
    names: namesIn(agent),
    keepsTranscripts: options.session === undefined,
    run(run) {
      const answers = run.resume?.answers ?? new Map<string, Json>();
      const before = run.resume && (JSON.parse(run.resume.state) as State);
      const files = [...(before?.files ?? [])];
      const course = { ...run, answers, remote: new Usage(), files };
      return withServedRun(course, () =>
        inTrace(run, agent.name, () => held(agent, runner, run, options, course, before)),
      );
    },
  });
}

/** The state of a waiting run. */
interface State {
  /** As the SDK has serialized it. */
  readonly run: string;
  readonly files: readonly Artifact[];
}

/**
 * The names of the agent and of all agents that it may hand off to, directly or not. Handoffs may
 * form cycles.
 */
function namesIn(agent: AnyAgent, known = new Set<AnyAgent>()): string[] {
  if (known.has(agent)) return [];
  known.add(agent);
  const targets = agent.handoffs.map((each) => ("agentName" in each ? each.agent : each));
  return [agent.name, ...targets.flatMap((each) => namesIn(each, known))];
}

async function held(
  agent: AnyAgent,
  runner: Runner,
  run: Run,
  options: ServeAgentOptions,
  { remote, files }: ServedRun,
  before: State | undefined,
): Promise<Finished | Paused> {
  const { work, resume, signal, thread, handoffId } = run;
  const { output_schema: schema } = run.capability;
  const { turnsAtMost: maxTurns } = options;
  // What came before a question is stored when the run pauses, under a key of its own.
  const part = resume === undefined ? handoffId : `${handoffId}/${digestOf(resume.state)}`;
  const stored = await options.session?.(thread, part);
  const turn = stored && turnIn(stored);
  const session = turn?.session;
  if (stored !== undefined && run.session !== undefined) {
    const isEmpty = (await stored.getItems(1)).length === 0;
    // If a turn has paused, the session already has what came before its question.
    const had = resume === undefined ? !isEmpty : run.session.offered === "continued";
    run.session.found(had);
  }
  const hold = async (input: AgentInputItem[] | RunState<unknown, AnyAgent>) => {
    // The usage in a resumed state was counted before.
    const counted = countsOf(input instanceof RunState ? input.usage : new Usage());
    const remoteBefore = countsOf(remote);
    const streamed: Streamed = await runner.run(agent, input, {
      stream: true,
      signal,
      context: options.context?.(run),
      ...(session === undefined ? {} : { session }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
    });
    try {
      await listen(streamed, run);
    } finally {
      const all = countsSince(counted, streamed.state.usage);
      run.addUsage({ model: modelOf(agent), ...less(all, countsSince(remoteBefore, remote)) });
    }
    return streamed;
  };

  const asked = itemsOf(
    shownByUsers(withFiles(conversationOf(work, schema), work.artifacts ?? [])),
  );
  const streamed = await hold(
    before === undefined ? asked : await resumed(agent, before.run, resume!.answers),
  );
  if (streamed.interruptions.length > 0) {
    await turn?.store();
    const state: State = { run: streamed.state.toString(), files };
    return { questions: questionsOf(streamed.interruptions), state: JSON.stringify(state) };
  }

  const ends = [streamed];
  const again = async (request: string): Promise<string> => {
    const next = itemsOf([textMessage("user", request)]);
    // A session has the history; without one it has to be sent again.
    const repaired = await hold(session === undefined ? [...streamed.history, ...next] : next);
    ends.push(repaired);
    return wordsIn(repaired.finalOutput);
  };
  const { finalOutput } = streamed;
  const isStructured = typeof finalOutput !== "string" && finalOutput !== undefined;
  const output = isStructured
    ? (finalOutput as Json)
    : await outputOf(wordsIn(finalOutput), schema, again);
  await turn?.store();
  const spoken = ends.flatMap(({ newItems }) => spokenIn(newItems));
  return {
    output,
    messages: work.messages && turnsOf(spoken),
    artifacts: [...artifactsIn(spoken.map(({ item }) => item)), ...files],
  };
}

/** If the model is an object, the SDK does not tell its name. */
function modelOf({ model }: AnyAgent): string | undefined {
  return typeof model === "string" ? model : undefined;
}

async function resumed(agent: AnyAgent, text: string, answers: ReadonlyMap<string, Json>) {
  const state = await RunState.fromString<unknown, AnyAgent>(agent, text);
  settle(state, answers);
  return state;
}

/** Reports events until the run has ended, successfully or not. */
async function listen(streamed: Streamed, run: Run): Promise<void> {
  try {
    for await (const event of streamed) report(event, run);
    await streamed.completed;
  } catch (thrown) {
    run.signal.throwIfAborted();
    throw failure(thrown);
  }
  run.signal.throwIfAborted();
  if (streamed.cancelled) throw new WaybillError(499, "The run was cancelled inside the SDK.");
  if (streamed.error != null) throw failure(streamed.error);
}

function report(event: RunStreamEvent, { progress, delta }: Run): void {
  if (event.type === "raw_model_stream_event") {
    const { data } = event;
    if (data.type === "output_text_delta") delta(data.delta);
    // A remote agent that was handed off to reports its own progress.
    if (data.type === "model" && isProgress(data.event)) progress(data.event.progress);
    return;
  }
  if (event.type === "agent_updated_stream_event") progress({ data: { agent: event.agent.name } });
}

function isProgress(event: unknown): event is { type: "waybill.progress"; progress: unknown } {
  return (event as { type?: unknown } | null)?.type === "waybill.progress";
}

/** The SDK attaches a tool's error to its own. */
function failure(thrown: unknown): unknown {
  const inner = (thrown as { error?: unknown } | null)?.error;
  const isWrapped = thrown instanceof Error && thrown.name === "ToolCallError";
  return modelFailure(isWrapped && inner instanceof Error ? inner : thrown);
}

function spokenIn(items: Streamed["newItems"]): SpokenItem[] {
  return items.flatMap((item) => {
    // An approval repeats a call that is already there.
    if (item.type === "tool_approval_item" || !("rawItem" in item)) return [];
    const by = "agent" in item ? item.agent.name : undefined;
    return [{ item: item.rawItem, by }];
  });
}

function wordsIn(output: unknown): string {
  return typeof output === "string" ? output : "";
}

import { parseManifest, WaybillError } from "@waybill/protocol";
import type {
  Artifact,
  Capability,
  CapabilityInput,
  Effects,
  Json,
  Message,
} from "@waybill/protocol";
import type { Ask, Handler, Work } from "../serving/work.ts";
import { loaded } from "./artifact.ts";
import { conversationOf } from "./conversation.ts";
import { withRun } from "./current-run.ts";
import { during } from "./current-work.ts";
import { failureFrom } from "./failure.ts";
import type { ErrorTable } from "./failure.ts";
import { Turns } from "./in-turn.ts";
import { wordsOf } from "./json-text.ts";
import { mediaIn } from "./media.ts";
import { textMessage, textOf, toolCallsOf } from "./message.ts";
import { portableOf } from "./portable.ts";
import type { PortableWork } from "./portable.ts";
import { Progress } from "./progress.ts";
import type { Run } from "./run.ts";
import { Transcripts } from "./transcripts.ts";
import { historyFrom, withDistinctCalls } from "./speech.ts";
import { usageRowOf } from "./usage.ts";

/** What an agent serves: `agent.serve(...offer)`. */
export type Offer = readonly [capability: CapabilityInput, handler: Handler];

/** The outcome of a run. */
export interface Finished {
  /** The output, in the form of the capability's output schema. */
  readonly output?: Json | undefined;
  /** The messages that the run has added to the history, without the history. */
  readonly messages?: readonly Message[] | undefined;
  /** Files that the run has made. */
  readonly artifacts?: readonly Artifact[] | undefined;
  /** Whether the run has had effects outside. */
  readonly effects?: Effects | undefined;
}

/** The run waits for answers. Only its state is kept. */
export interface Paused {
  /** The questions to answer before the run can go on. */
  readonly questions: readonly Ask[];
  /** The state from which the next attempt resumes, as the framework's run wrote it. */
  readonly state: string;
}

/** How a framework's agent or graph is served as a capability. */
export interface ServeOptions {
  /** The served capability, as its author wrote it. */
  readonly capability: CapabilityInput;
  /** Converts in, runs the framework, converts out. */
  run(run: Run): Promise<Finished | Paused>;
  /** Statuses for the framework's own errors. */
  readonly errors?: ErrorTable | undefined;
  /**
   * For a framework that keeps no conversations: keeps what is said in a session in the memory of the
   * process, within a budget, and puts it before the messages of the next work in that session.
   */
  readonly keepsTranscripts?: boolean | undefined;
  /** The names of the framework's agent and its parts, for `historyFrom`. */
  readonly names?: readonly string[] | undefined;
}

/**
 * Runs the part that is the same in every adapter: progress, questions, pauses, cancellation and
 * errors around one run of the framework.
 *
 * @example
 * ```ts
 * export function serveThing(thing: Thing, capability: CapabilityInput): Offer {
 *   return offerOf({
 *     capability,
 *     async run({ work, signal, progress }) {
 *       const reply = await thing.run(conversationOf(work), { signal, onEvent: progress });
 *       return { output: reply.text };
 *     },
 *   });
 * }
 * ```
 */
export function offerOf({
  capability,
  run: once,
  errors = {},
  names,
  keepsTranscripts = false,
}: ServeOptions): Offer {
  const served = readCapability(capability);
  const turns = new Turns();
  const run = keepsTranscripts ? transcribed(once, new Transcripts()) : once;
  const handler: Handler = async (work) => {
    const progress = new Progress(work);
    const { signal } = work;
    try {
      const files = work.body.artifacts && [...(await loaded(work.artifacts))];
      const received = portableOf({ ...work.body, artifacts: files });
      const made = runOf(work, received, served, progress, names);
      const start = () => during(work, () => withRun(made, () => run(made)));
      const ending = await (work.session === undefined
        ? start()
        : turns.run(made.thread, signal, start));
      // A framework that was told to stop and claims success has not done the work.
      signal.throwIfAborted();
      await progress.settled();
      if ("questions" in ending) return work.pause(ending.questions, ending.state);
      assertSaysSomething(ending);
      const { output, messages = [], artifacts = [], effects } = ending;
      return work.result({ output, messages: [...messages], artifacts: [...artifacts], effects });
    } catch (thrown) {
      throw failureFrom(thrown, { table: errors, signal });
    }
  };
  return [capability, handler];
}

/** Runs with what was said before in the session, and keeps what was said now if the run succeeds. */
function transcribed(run: ServeOptions["run"], transcripts: Transcripts): ServeOptions["run"] {
  return async (given) => {
    const { work, session, thread, handoffId, capability } = given;
    if (session === undefined) return run(given);
    const before = transcripts.before(thread, handoffId);
    session.found(before !== undefined);
    const messages = before && withDistinctCalls([...before, ...(work.messages ?? [])]);
    const ending = await run({
      ...given,
      work: messages === undefined ? work : { ...work, messages },
    });
    if ("questions" in ending) return ending;
    const { output, messages: added = [] } = ending;
    const replied = added.length > 0 || output === undefined ? added : [replyOf(output)];
    const asked = conversationOf(work, capability.output_schema);
    transcripts.keep(thread, handoffId, [...asked, ...replied]);
    return ending;
  };
}

function replyOf(output: Json): Message {
  return textMessage("assistant", wordsOf(output));
}

function readCapability(capability: CapabilityInput): Capability {
  return parseManifest({ agent_id: "adapter", capabilities: [capability] }).capabilities[0]!;
}

function runOf(
  work: Work,
  received: PortableWork,
  capability: Capability,
  progress: Progress,
  names: readonly string[] | undefined,
): Run {
  const { envelope, handoffId, attempt, deadline, signal, session, resume } = work;
  const { ask, addUsage } = work;
  const { messages } = received;
  return {
    work: portableOf({
      ...received,
      messages: messages && historyFrom(messages, { by: envelope.from, names }),
    }),
    received,
    delegator: envelope.from,
    capability,
    handoffId,
    // Two capabilities with one name would let two agents of the framework write into one thread.
    thread: session === undefined ? handoffId : `${session.key}:${capability.name}`,
    session,
    correlationId: envelope.correlation_id,
    attempt,
    deadline,
    traceparent: envelope.traceparent,
    tracestate: envelope.tracestate,
    signal,
    resume,
    progress: (event) => progress.report(event),
    addUsage: (counted) => {
      const row = usageRowOf(counted);
      if (row !== undefined) addUsage(row);
    },
    delta: work.delta,
    ask,
  };
}

/** Messages without any text count as none. */
function assertSaysSomething({ output, messages, artifacts = [] }: Finished): void {
  if (output !== undefined || artifacts.length > 0 || messages === undefined) return;
  const says = (message: Message) =>
    textOf(message).trim() !== "" || toolCallsOf(message).length > 0 || mediaIn(message).length > 0;
  if (messages.some(says)) return;
  throw new WaybillError(
    520,
    "The run ended without any output. An empty success counts as an error: return a reply, or fail.",
  );
}

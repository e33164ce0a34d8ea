import { parseManifest, WaybillError } from "@waybill/protocol";
import type {
  Artifact,
  Capability,
  CapabilityInput,
  Effects,
  Json,
  Message,
} from "@waybill/protocol";
import type { WorkSession } from "../serving/session.ts";
import type { Ask, Handler, Resume, Work } from "../serving/work.ts";
import { loaded } from "./artifact.ts";
import { conversationOf } from "./conversation.ts";
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
import { Transcripts } from "./transcripts.ts";
import { historyFrom, withDistinctCalls } from "./speech.ts";
import { usageRowOf } from "./usage.ts";
import type { CountedUsage } from "./usage.ts";

/** What an agent serves: `agent.serve(...offer)`. */
export type Offer = readonly [capability: CapabilityInput, handler: Handler];

/** One run of a framework's thing, as its adapter gets it. */
export interface Run {
  /** What is to be done. Its history is as `historyFrom` makes it: fit for a model. */
  readonly work: PortableWork;
  /** The same as the delegator has sent it, for code alone: its history may pose as anybody. */
  readonly received: PortableWork;
  /** The agent that has handed it off. */
  readonly delegator: string;
  /** What is served, with every default filled in and its schemas as JSON Schema. */
  readonly capability: Capability;
  /** The idempotency key of the run: the same in every attempt. */
  readonly handoffId: string;
  /**
   * Names what the framework keeps of the run: its thread, its session. The same in every attempt, and in
   * every handoff of one session; without a session it is the handoff's id.
   */
  readonly thread: string;
  /**
   * Where the handoff names a session: `found` tells the delegator whether the framework had its
   * conversation. Runs of one session come one after the other.
   */
  readonly session: WorkSession | undefined;
  readonly correlationId: string;
  readonly attempt: number;
  readonly deadline: Date;
  /** W3C trace context of the handoff. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** Goes into the framework: once it fires, the run has to stop. */
  readonly signal: AbortSignal;
  /** Where the run has paused before: go on from there, with the answers by their questions' ids. */
  readonly resume: Resume | undefined;
  /** Takes what the framework streams, in order. */
  progress(event: unknown): void;
  /** Adds what the framework has counted: for the result, a failure's too. */
  addUsage(counted: CountedUsage): void;
  /** Shows what the framework's model writes, as it writes it. The result has to hold the whole text. */
  delta(text: string): void;
  /** Asks while the run goes on. For a framework that can't be paused. */
  ask(question: Ask | string): Promise<Json>;
}

/** What a run has come to. */
export interface Finished {
  /** The output, as the capability's output schema has it. */
  readonly output?: Json | undefined;
  /** What the run has added to the history, and not the history again. */
  readonly messages?: readonly Message[] | undefined;
  /** Files that the run has made. */
  readonly artifacts?: readonly Artifact[] | undefined;
  /** Whether the run has left traces outside. */
  readonly effects?: Effects | undefined;
}

/** The run waits for answers, and nothing of it is kept but its state. */
export interface Paused {
  /** What has to be answered before the run can go on. */
  readonly questions: readonly Ask[];
  /** What the next attempt goes on from, as the framework's run has written it. */
  readonly state: string;
}

/** A framework's thing as a capability. */
export interface ServeOptions {
  /** What is served, as its author has written it. */
  readonly capability: CapabilityInput;
  /** Converts in, runs the framework, converts out. */
  run(run: Run): Promise<Finished | Paused>;
  /** Statuses for the framework's own errors. */
  readonly errors?: ErrorTable | undefined;
  /**
   * For a framework that keeps no conversations: what is said in a session is kept here, in the memory of
   * the process and within a budget, and goes before the messages of the next work in that session.
   */
  readonly keepsTranscripts?: boolean | undefined;
  /** What the framework's thing and its parts are called, as `historyFrom` needs them. */
  readonly names?: readonly string[] | undefined;
}

/**
 * What is the same in every adapter around one run of its framework: progress, questions, pauses,
 * cancellation and errors.
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
      const start = () => during(work, () => run(made));
      const ending = await (work.session === undefined
        ? start()
        : turns.run(made.thread, signal, start));
      // A framework that was told to stop and says that it is done has not done the work.
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

/** Runs with what was said before in the session, and keeps what is said now once the run has ended well. */
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
    // Of two capabilities, two things of the framework could write into one thread.
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

/** Messages without a word in them are as empty as none. */
function assertSaysSomething({ output, messages, artifacts = [] }: Finished): void {
  if (output !== undefined || artifacts.length > 0 || messages === undefined) return;
  const says = (message: Message) =>
    textOf(message).trim() !== "" || toolCallsOf(message).length > 0 || mediaIn(message).length > 0;
  if (messages.some(says)) return;
  throw new WaybillError(
    520,
    "The run came to an end without a word. An empty success is none: have it reply, or fail.",
  );
}

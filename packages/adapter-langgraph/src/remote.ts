import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type {
  Agent,
  HandoffHandle,
  HandoffResult,
  ProgressEvent,
  QuestionEvent,
} from "@waybill/agent";
import { currentWork, dispatch, refuseQuestion, sessionFor, settle } from "@waybill/agent/adapter";
import type { Call, CallSession } from "@waybill/agent/adapter";
import { newId, WaybillError } from "@waybill/protocol";
import type { Json, ProgressBody } from "@waybill/protocol";
import { answering, Asked } from "./asked.ts";
import { failureIn, parkedOn } from "./parked.ts";
import type { Outcome } from "./parked.ts";
import { isStored, saverIn } from "./stored.ts";
import { Tokens } from "./tokens.ts";

/** What is handed off, and to whom: an agent, or whoever has the capability. */
export interface Handoff extends Omit<Call, "step" | "acknowledge" | "session"> {
  /**
   * The session to hand off in; `true` for that of the run's own thread, so that the turns of a thread
   * here share a conversation there. By default each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
}

/** How a graph waits for another agent. */
export interface RemoteOptions {
  /** Distinguishes handoffs of one task: a tool call's id. */
  readonly part?: string | undefined;
  /**
   * Leaves the graph in its checkpointer while the other agent works; `wake` resumes it. Inside a
   * served run it waits, because others wait for that run.
   */
  readonly isParked?: boolean | undefined;
  /** The name of the other agent in the graph; by default the name of the node. */
  readonly name?: string | undefined;
}

const State = Annotation.Root({
  handoffId: Annotation<string>,
  question: Annotation<QuestionEvent | undefined>,
  answers: Annotation<Readonly<Record<string, Json>>>({
    reducer: (before, after) => ({ ...before, ...after }),
    default: () => ({}),
  }),
  result: Annotation<HandoffResult | undefined>,
});

type State = typeof State.State;

/**
 * Hands off from inside a node or a tool, and returns the result. It is a graph of its own inside the
 * step, because each question is a step there: an answer then has one place in the checkpoints, and a
 * repeated step can't take it for the answer to the next question. If the graph is parked, a function
 * that returns the handoff is not called again once that is done.
 */
export async function remote(
  agent: Agent,
  handoff: Handoff | (() => Handoff),
  config: LangGraphRunnableConfig,
  options: RemoteOptions = {},
): Promise<HandoffResult> {
  config.signal?.throwIfAborted();
  const isKept = await isStored(config);
  const isParked = options.isParked === true && currentWork() === undefined;
  if (isParked && !isKept) throw unkept();
  const send = sending(agent, handoff, config, options.part);
  const wait = isParked ? parked : waiting(send, config, options.name);
  const graph = new StateGraph(State)
    .addNode("dispatch", async () => {
      const handle = send();
      await handle.custody;
      // LangGraph abandons a run that is stopped: nobody would wait for this one.
      if (config.signal?.aborted === true) await handle.cancel();
      return { handoffId: handle.id };
    })
    .addNode("wait", wait)
    .addNode("ask", ({ question }) => ({
      answers: { [question!.id]: interrupt<unknown, Json>(questionOf(question!)) },
      question: undefined,
    }))
    .addNode("acknowledge", async ({ handoffId }) => {
      // The outcome of the wait is stored now, so the hub need not keep it any longer.
      await acknowledge(agent, handoffId);
      return {};
    })
    .addConditionalEdges(START, () => (isParked ? "dispatch" : "wait"), ["dispatch", "wait"])
    .addEdge("dispatch", "wait")
    .addConditionalEdges("wait", ({ question }) => (question ? "ask" : "acknowledge"), [
      "ask",
      "acknowledge",
    ])
    .addEdge("ask", "wait")
    .addEdge("acknowledge", END)
    .compile({ name: "waybill" });
  const limits = { durability: "sync", recursionLimit: QUESTIONS_AT_MOST } as const;
  const { result } = await graph.invoke({}, { ...config, ...limits });
  return result!;
}

const leftOpen = new WeakSet<object>();

/** Whether this is the end of the agent here, and not of the handoff, which goes on and is found again. */
export function isLeftOpen(error: WaybillError): boolean {
  return leftOpen.has(error);
}

/** Each question takes steps of the waiting graph; only the deadline bounds their number. */
const QUESTIONS_AT_MOST = 100_000;

/** Hands off under the id of the framework's task, or finds the earlier handoff under it. */
function sending(
  agent: Agent,
  handoff: Handoff | (() => Handoff),
  { executionInfo, metadata }: LangGraphRunnableConfig,
  part?: string,
): () => HandoffHandle {
  const { taskId = newId(), threadId: run = "" } = executionInfo ?? {};
  const step = part === undefined ? taskId : `${taskId} ${part}`;
  const { traceparent, tracestate } = (metadata ?? {}) as Partial<Record<string, string>>;
  return () => {
    const { session, ...rest } = typeof handoff === "function" ? handoff() : handoff;
    return dispatch(agent, {
      traceparent,
      tracestate,
      ...rest,
      session: sessionFor(session, run === "" ? undefined : run),
      acknowledge: "manual",
      step: { run, step },
    });
  };
}

function waiting(send: () => HandoffHandle, config: LangGraphRunnableConfig, name?: string) {
  const canInterrupt = saverIn(config) !== undefined;
  return async ({ answers }: State): Promise<Partial<State>> => {
    const handle = send();
    const tokens = new Tokens(config, handle.id, name ?? nodeOf(config));
    try {
      const result = await settle(handle, {
        signal: config.signal,
        onDelta: (delta) => tokens.show(delta),
        onProgress(event) {
          config.heartbeat?.();
          config.writer?.(shown(event));
        },
        onQuestion: canInterrupt ? answering(answers) : refuseQuestion,
      });
      return { handoffId: handle.id, result };
    } catch (error) {
      if (error instanceof Asked) return { question: error.question };
      if (WaybillError.is(error) && (await goesOn(handle, error))) leftOpen.add(error);
      handle.acknowledge().catch(() => undefined);
      throw error;
    } finally {
      await tokens.end();
    }
  };
}

function nodeOf({ metadata }: LangGraphRunnableConfig): string | undefined {
  return metadata?.["langgraph_node"] as string | undefined;
}

/** Without a known end, only a handoff that the hub has never taken is over. */
async function goesOn(handle: HandoffHandle, error: WaybillError): Promise<boolean> {
  if (handle.hasEnded) return false;
  const isInCustody = handle.custody.then(
    () => true,
    () => false,
  );
  return error.status === 503 || isInCustody;
}

/** The checkpointer has the graph from here on; `wake` resumes it with what has happened. */
function parked({ handoffId, answers }: State): Partial<State> {
  const outcome = interrupt<unknown, Outcome>(parkedOn(handoffId, answers));
  if ("failure" in outcome) throw failureIn(outcome);
  return outcome;
}

async function acknowledge(agent: Agent, handoffId: string): Promise<void> {
  try {
    const handle = await agent.attach(handoffId, { acknowledge: "manual" });
    await handle.acknowledge();
  } catch (error) {
    // It is acknowledged already and forgotten, or it will be delivered again to nobody: no harm.
    if (!WaybillError.is(error)) throw error;
  }
}

function shown({ message, fraction, data }: ProgressEvent): ProgressBody {
  return {
    ...(message === undefined ? {} : { message }),
    ...(fraction === undefined ? {} : { fraction }),
    ...(data === undefined ? {} : { data }),
  };
}

function questionOf({ id, by, text, data, schema }: QuestionEvent) {
  return {
    waybill: "question",
    id,
    by,
    ...(text === undefined ? {} : { text }),
    ...(data === undefined ? {} : { data }),
    ...(schema === undefined ? {} : { schema }),
  };
}

function unkept(): WaybillError {
  return new WaybillError(
    403,
    "A graph can be parked only if its checkpoints are stored: compile it with a checkpointer, and run it with a thread_id and with durability sync or async.",
  );
}

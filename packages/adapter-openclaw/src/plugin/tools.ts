/// <reference types="node" />
import type { Agent, HandoffHandle } from "@waybill/agent";
import { dispatch, handoffIdOf } from "@waybill/agent/adapter";
import { describeForModel, WaybillError } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";
import type { Hub } from "@waybill/protocol/wire";
import { endOf, outcomeForModel } from "./ending.ts";
import type { Outcome } from "./ending.ts";
import type { Errand } from "./errands.ts";
import { Questions } from "./questions.ts";
import type { PluginTool, ToolContext, ToolResult } from "./plugin-api.ts";

/** What the tools of a gateway's agents work with. */
export interface Desk {
  readonly agent: Agent;
  readonly hub: Pick<Hub, "find">;
  /** How long a tool waits for a result. */
  readonly waitMs: number;
  /** Keeps the errand on disk, so that the end of the handoff is told whatever happens. */
  keep(errand: Errand): Promise<void>;
  /** Announces the end of a handoff in its session. */
  announce(errand: Errand, handle: HandoffHandle): void;
}

export const TOOL_NAMES = ["handoff", "find", "check", "answer"] as const;

/** One of the tools, for an agent in one session. */
export function toolFor(
  name: (typeof TOOL_NAMES)[number],
  { sessionKey = "agent:main:main" }: ToolContext,
  desk: () => Promise<Desk>,
): PluginTool {
  const { description, parameters, run } = TOOLS[name];
  return {
    name,
    label: name,
    description,
    parameters,
    async execute(toolCallId, given, signal, onUpdate) {
      const call = { sessionKey, toolCallId, signal, onUpdate };
      try {
        return await run(await desk(), given as never, call);
      } catch (error) {
        signal?.throwIfAborted();
        if (!WaybillError.is(error)) throw error;
        return inWords(`That was refused with ${error.status}: ${error.message}`);
      }
    },
  };
}

interface ToolCall {
  readonly sessionKey: string;
  readonly toolCallId: string;
  readonly signal: AbortSignal | undefined;
  readonly onUpdate: ((partial: ToolResult) => void) | undefined;
}

interface Tool {
  readonly description: string;
  readonly parameters: JsonSchema & object;
  run(desk: Desk, given: never, call: ToolCall): Promise<ToolResult>;
}

const TEXT = { type: "string" } as const;

const TOOLS: Readonly<Record<(typeof TOOL_NAMES)[number], Tool>> = {
  handoff: {
    description:
      "Hands work off to another agent, which may run anywhere. Gives its result; or, if that takes long, the id of the handoff, whose end is announced in this session.",
    parameters: {
      type: "object",
      required: ["capability"],
      properties: {
        capability: { ...TEXT, description: "What the agent has to be able to do: see find." },
        to: { ...TEXT, description: "The id of one agent. Left out: one is chosen." },
        instruction: {
          ...TEXT,
          description: "What is to be done, for one who knows nothing else.",
        },
        expected_output: { ...TEXT, description: "What the result has to be." },
        input: { description: "The input, if the capability has a schema for it." },
        timeout_seconds: { type: "integer", minimum: 1 },
        session: {
          ...TEXT,
          description:
            "The name of a conversation that the other agent continues: any, without spaces.",
        },
      },
    },
    async run(desk, given: Handing, call) {
      const { agent } = desk;
      const { sessionKey, toolCallId } = call;
      // Some models count their calls from zero in every turn.
      const step = { run: sessionKey, step: `${toolCallId} ${JSON.stringify(given)}` };
      const errand = { handoffId: handoffIdOf(agent.id, step), sessionKey, toolCallId };
      // Before the hub has it: the process may be killed at any moment after that.
      await desk.keep(errand);
      const handle = dispatch(agent, { step, ...workOf(given) });
      // Before the other agent starts: what it writes until somebody looks is not kept.
      show(handle, call);
      await handle.custody;
      return wait(desk, errand, handle, call);
    },
  },

  find: {
    description: "Finds the agents that can do something, best first.",
    parameters: { type: "object", required: ["capability"], properties: { capability: TEXT } },
    async run({ hub }, { capability }: { capability: string }) {
      const { fits } = await hub.find({ capability });
      const found = fits.map((fit) => `${fit.agent_id}\n${describeForModel(fit.capability)}`);
      return inWords(found.length === 0 ? `Nobody does ${capability} now.` : found.join("\n\n"));
    },
  },

  check: {
    description: "Tells how a handoff stands.",
    parameters: { type: "object", required: ["handoff_id"], properties: { handoff_id: TEXT } },
    async run({ agent }, { handoff_id }: { handoff_id: string }) {
      const handle = await agent.attach(handoff_id);
      return outcomeForModel(
        handoff_id,
        await first([endOf(handle), nextQuestion(handle)], SOON_MS),
      );
    },
  },

  answer: {
    description: "Answers a question of a handoff, and waits for its result like handoff.",
    parameters: {
      type: "object",
      required: ["handoff_id", "question_id", "answer"],
      properties: { handoff_id: TEXT, question_id: TEXT, answer: {} },
    },
    async run(desk, { handoff_id, question_id, answer }: Answering, call) {
      const handle = await desk.agent.attach(handoff_id);
      const { sessionKey, toolCallId } = call;
      show(handle, call);
      await desk.keep({ handoffId: handoff_id, sessionKey, toolCallId });
      await handle.answer(question_id, answer);
      Questions.of(handle).markAnswered(question_id);
      return wait(desk, { handoffId: handoff_id, sessionKey, toolCallId }, handle, call);
    },
  },
};

interface Handing {
  readonly capability: string;
  readonly to?: string;
  readonly instruction?: string;
  readonly expected_output?: string;
  readonly input?: Json;
  readonly timeout_seconds?: number;
  readonly session?: string;
}

interface Answering {
  readonly handoff_id: string;
  readonly question_id: string;
  readonly answer: Json;
}

/** A session that is asked by `check` has nothing to wait for. */
const SOON_MS = 500;

function workOf({ timeout_seconds: seconds, ...asked }: Handing) {
  const { capability, to, input, session, instruction, expected_output } = asked;
  const brief =
    instruction === undefined
      ? undefined
      : { instruction, ...(expected_output === undefined ? {} : { expected_output }) };
  const timeoutMs = seconds === undefined ? undefined : seconds * 1000;
  return { capability, to, input, brief, timeoutMs, session };
}

/** Waits for the end of a handoff or for its next question, and leaves the rest to an announcement. */
async function wait(
  desk: Desk,
  errand: Errand,
  handle: HandoffHandle,
  { signal }: ToolCall,
): Promise<ToolResult> {
  const cancel = () => void handle.cancel("The run was stopped.").catch(() => undefined);
  if (signal?.aborted === true) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const outcome = await first([endOf(handle), nextQuestion(handle)], desk.waitMs);
    signal?.throwIfAborted();
    if (outcome.type === "working" || outcome.type === "question") {
      const told = outcome.type === "question" ? [outcome.question.id] : [];
      const kept = { ...errand, toolCallId: undefined, told };
      // On disk before the model relies on it.
      await desk.keep(kept);
      desk.announce(kept, handle);
    }
    return outcomeForModel(errand.handoffId, outcome);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** Shows the progress of the other agent, and what it has written so far, until the handoff ends. */
function show(handle: HandoffHandle, { onUpdate }: ToolCall): void {
  if (onUpdate === undefined) return;
  void showProgress(handle, onUpdate);
  void showDeltas(handle, onUpdate);
}

type Update = (partial: ToolResult) => void;

async function showProgress(handle: HandoffHandle, update: Update): Promise<void> {
  for await (const { message } of handle.progress)
    if (message !== undefined) update(inWords(message));
}

async function showDeltas(handle: HandoffHandle, update: Update): Promise<void> {
  let shown = { attempt: 0, text: "" };
  for await (const { attempt, text } of handle.deltas) {
    shown = { attempt, text: attempt === shown.attempt ? shown.text + text : text };
    update(inWords(shown.text));
  }
}

/** The next question that waits for an answer; never settles if there is none. */
async function nextQuestion(handle: HandoffHandle): Promise<Outcome> {
  return { type: "question", question: await Questions.of(handle).next() };
}

/** Whatever comes first; `working` after this time. */
async function first(outcomes: Promise<Outcome>[], withinMs: number): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ type: "working" }), withinMs);
  });
  try {
    return await Promise.race([...outcomes, late]);
  } finally {
    clearTimeout(timer);
  }
}

function inWords(text: string): ToolResult {
  return { content: [{ type: "text", text }], details: {} };
}

import { tool } from "@openai/agents";
import type { FunctionTool, RunState, RunToolApprovalItem } from "@openai/agents";
import { wordsOf } from "@waybill/agent/adapter";
import type { Ask } from "@waybill/agent";
import type { Json } from "@waybill/protocol";
import { currentServedRun } from "./served-run.ts";

const QUESTION = "ask_delegator";

/**
 * Lets a served agent ask its delegator. The run pauses until the delegator has answered.
 *
 * @example
 * ```ts
 * const editor = new Agent({ name: "editor", tools: [questionTool()] });
 * ```
 */
export function questionTool(): FunctionTool {
  return tool({
    name: QUESTION,
    description:
      "Asks whoever gave you this work, and gives their answer. Use it only for what you can't find out or decide yourself.",
    parameters: {
      type: "object",
      properties: { question: { type: "string" } },
      required: ["question"],
      additionalProperties: false,
    },
    strict: true,
    // The answer "approves" the call, which then finds it.
    needsApproval: true,
    execute(_, __, details) {
      const answer = currentServedRun()?.answers.get(details?.toolCall?.callId ?? "");
      return wordsOf(answer ?? null);
    },
  }) as FunctionTool;
}

/** The questions that a paused run waits for, with the ids of the calls. */
export function questionsOf(interruptions: readonly RunToolApprovalItem[]): Ask[] {
  return interruptions.map((interruption): Ask => {
    const { name, agent } = interruption;
    const id = callIdOf(interruption);
    const given = (interruption.rawItem as { arguments?: string }).arguments ?? "{}";
    if (name === QUESTION)
      return { id, text: (JSON.parse(given) as { question: string }).question };
    return {
      id,
      text: `May ${agent.name} use ${name} with ${given}?`,
      data: { tool: name ?? null, arguments: given },
      schema: APPROVAL,
    };
  });
}

const APPROVAL: Json = {
  type: ["boolean", "object"],
  properties: { approve: { type: "boolean" }, reason: { type: "string" } },
  required: ["approve"],
};

/** Passes the answers to a run. Only a clear yes approves. */
export function settle<Context>(
  // The state's agent makes no difference here.
  // oxlint-disable-next-line typescript/no-explicit-any
  state: RunState<Context, any>,
  answers: ReadonlyMap<string, Json>,
): void {
  for (const interruption of state.getInterruptions()) {
    const answer = answers.get(callIdOf(interruption));
    if (answer === undefined) continue;
    if (interruption.name === QUESTION || isYes(answer)) state.approve(interruption);
    else state.reject(interruption, { message: reasonIn(answer) });
  }
}

function callIdOf({ rawItem }: RunToolApprovalItem): string {
  return (rawItem as { callId?: string }).callId ?? (rawItem as { id?: string }).id ?? "approval";
}

function isYes(answer: Json): boolean {
  if (typeof answer !== "object" || answer === null) return answer === true;
  return (answer as { approve?: Json }).approve === true;
}

function reasonIn(answer: Json): string {
  const reason =
    typeof answer === "object" && answer !== null ? (answer as { reason?: Json }).reason : answer;
  return typeof reason === "string" ? `Not approved: ${reason}` : "Not approved.";
}

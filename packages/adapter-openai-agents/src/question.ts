import { tool } from "@openai/agents";
import type { FunctionTool, RunState, RunToolApprovalItem } from "@openai/agents";
import { APPROVAL, approvalIn, QUESTION_TOOL, wordsOf } from "@waybill/agent/adapter";
import type { Ask } from "@waybill/agent";
import type { Json } from "@waybill/protocol";
import { currentServedRun } from "./served-run.ts";

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
    ...QUESTION_TOOL,
    strict: true,
    // The answer "approves" the call, which then finds it.
    needsApproval: true,
    execute(_, __, details) {
      const answer = currentServedRun()?.answers.get(details?.toolCall?.callId ?? "");
      return wordsOf(answer ?? null);
    },
  }) as unknown as FunctionTool;
}

/** The questions that a paused run waits for, with the ids of the calls. */
export function questionsOf(interruptions: readonly RunToolApprovalItem[]): Ask[] {
  return interruptions.map((interruption): Ask => {
    const { name, agent } = interruption;
    const id = callIdOf(interruption);
    const given = (interruption.rawItem as { arguments?: string }).arguments ?? "{}";
    if (name === QUESTION_TOOL.name)
      return { id, text: (JSON.parse(given) as { question: string }).question };
    return {
      id,
      text: `May ${agent.name} use ${name} with ${given}?`,
      data: { tool: name ?? null, arguments: given },
      schema: APPROVAL,
    };
  });
}

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
    const { approved, reason } = approvalIn(answer);
    if (interruption.name === QUESTION_TOOL.name || approved) state.approve(interruption);
    else state.reject(interruption, { message: reason });
  }
}

function callIdOf({ rawItem }: RunToolApprovalItem): string {
  return (rawItem as { callId?: string }).callId ?? (rawItem as { id?: string }).id ?? "approval";
}

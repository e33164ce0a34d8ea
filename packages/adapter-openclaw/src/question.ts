import { createHash } from "node:crypto";
import type { Run } from "@waybill/agent/adapter";
import { wordsOf } from "@waybill/agent/adapter";
import type { Json } from "@waybill/protocol";
import type { Gateway } from "./gateway.ts";

/** Questions that a run has put to whoever it works for, as the gateway keeps them. */
export interface QuestionRecord {
  readonly id: string;
  readonly runId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly status: string;
  readonly questions: readonly GatewayQuestion[];
}

interface GatewayQuestion {
  readonly questionId: string;
  readonly question: string;
  readonly options?: readonly { readonly label: string; readonly description?: string }[];
}

/** Puts the questions to the delegator, one after the other, and gives the gateway the answers. */
export async function relayQuestions(
  gateway: Gateway,
  { id, questions }: QuestionRecord,
  ask: Run["ask"],
): Promise<void> {
  const answers: Record<string, string[]> = {};
  for (const { questionId, question, options = [] } of questions) {
    const answer = await ask({
      id: `${questionId}-${digestOf(question)}`,
      text: question,
      ...(options.length === 0 ? {} : { data: { options: options as unknown as Json } }),
    });
    answers[questionId] = Array.isArray(answer) ? answer.map(wordsOf) : [wordsOf(answer)];
  }
  await gateway.request("question.resolve", { id, answers: { answers } });
}

/** An agent may use one id for several questions. */
function digestOf(question: string): string {
  return createHash("sha256").update(question).digest("hex").slice(0, 8);
}

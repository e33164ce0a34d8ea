import { createReply } from "@waybill/protocol";
import type { Digest, Envelope, HandoffEnvelope, Json } from "@waybill/protocol";
import type { AgentContext } from "../context.ts";

/** A question of a recipient, as an answer has to name it. */
export interface AskedQuestion {
  readonly re: Digest;
  readonly by: string;
}

/** Cancels a handoff; returns the envelope. Throws 410 if the handoff had ended before. */
export function sendCancel(
  context: AgentContext,
  handoff: HandoffEnvelope,
  { reason, until }: { readonly reason: string | undefined; readonly until: number },
): Promise<string> {
  const { id: from, hub, source } = context;
  const to = typeof handoff.to === "string" ? handoff.to : hub.id;
  const cancel = createReply(handoff, { kind: "cancel", from, to, body: { reason } }, source);
  return send(context, cancel, until);
}

/** Answers a question about a handoff. */
export async function sendAnswer(
  context: AgentContext,
  handoff: HandoffEnvelope,
  given: {
    readonly id: string;
    readonly answer: Json;
    readonly asked: AskedQuestion;
    readonly until: number;
  },
): Promise<void> {
  const { id: from, source } = context;
  const { re, by: to } = given.asked;
  const body = { question_id: given.id, answer: given.answer };
  const answer = createReply(handoff, { kind: "answer", from, to, re, body }, source);
  await send(context, answer, given.until);
}

async function send(
  { signer, link }: AgentContext,
  envelope: Envelope,
  until: number,
): Promise<string> {
  const signed = await signer.sign(envelope);
  await link.submit(signed, until);
  return signed.text;
}

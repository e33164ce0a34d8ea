import type { Contract } from "../contract/contract.ts";
import type { Digest } from "../signing/digest.ts";
import type { Envelope, HandoffEnvelope, ReceiptEnvelope } from "../envelope/envelope.ts";
import type { LifecycleEvent, LifecycleTerms } from "./handoff.ts";

/**
 * The event that an envelope causes for its handoff; undefined if none: custody receipts and notices
 * report a step of the hub, they never cause one, and neither does an acknowledgement of several. `digest` is the envelope's own, `at` its time of
 * arrival.
 */
export function eventOf(
  envelope: Envelope,
  digest: Digest,
  at: number,
): LifecycleEvent | undefined {
  const { from: by } = envelope;
  switch (envelope.kind) {
    case "handoff":
      return submitOf(envelope, digest, at);
    case "cancel":
      return { type: "cancel", by, digest, at };
    case "answer":
      return { type: "answer", by, question: envelope.body.question_id, digest, at };
    case "receipt":
      return receiptEventOf(envelope, digest, at);
    case "progress":
      return { type: "progress", by, attempt: envelope.attempt, re: envelope.re, at };
    case "question": {
      const { attempt, re, body } = envelope;
      const questions = body.questions.map(({ id }) => id);
      const type = body.state === undefined ? "question" : "pause";
      return { type, by, attempt, re, questions, at };
    }
    case "result": {
      const { attempt, re, body } = envelope;
      const { retryable: isRetryable, retry_after_ms: retryAfterMs } = body.error ?? {};
      const { status } = body;
      return { type: "result", by, attempt, re, status, digest, isRetryable, retryAfterMs, at };
    }
    case "notice":
      return undefined;
  }
}

function submitOf(envelope: HandoffEnvelope, digest: Digest, at: number): LifecycleEvent {
  return {
    type: "submit",
    id: envelope.handoff_id,
    digest,
    by: envelope.from,
    recipient: typeof envelope.to === "string" ? envelope.to : null,
    deadline: Date.parse(envelope.deadline),
    ...(envelope.not_before !== undefined && { notBefore: Date.parse(envelope.not_before) }),
    terms: offeredTerms(envelope.body.contract),
    at,
  };
}

/** The terms that a contract names; the recipient's manifest supplies the others. */
function offeredTerms(contract: Contract | undefined): Partial<LifecycleTerms> {
  return {
    ...(contract?.max_attempts !== undefined && { maxAttempts: contract.max_attempts }),
    ...(contract?.lease_seconds !== undefined && {
      leaseMs: Math.ceil(contract.lease_seconds * 1000),
    }),
  };
}

function receiptEventOf(
  envelope: ReceiptEnvelope,
  digest: Digest,
  at: number,
): LifecycleEvent | undefined {
  const { from: by, attempt, re, body } = envelope;
  const { status, retry_after_ms: retryAfterMs } = body;
  // Each handoff of an acknowledgement of several gets an event of the hub, which refuses some of them.
  if (body.also !== undefined) return undefined;
  if (status === 200) return { type: "acknowledge", by, outcome: re, at };
  if (attempt === undefined) return undefined;
  if (status === 101) return { type: "accept", by, attempt, re, at };
  if (status === 300 || status === 301) {
    return { type: "release", by, attempt, re, status, retryAfterMs, at };
  }
  return status >= 400 ? { type: "reject", by, attempt, re, status, digest, at } : undefined;
}

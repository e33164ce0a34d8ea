import type { LedgerEntry } from "@waybill/hub";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import type { Envelope, StatusCode } from "@waybill/protocol";
import { DECISIONS, textOf, textOfRefused } from "./event-text.ts";
import type { Decision } from "./event-text.ts";
import type { SignatureChecks } from "./signatures.ts";
import type { Signature, TraceEvent } from "./trace.ts";

export interface RecordContext extends SignatureChecks {
  /** The hub's id. */
  readonly hub: string;
}

type SignedEntry = LedgerEntry & { readonly envelope: Envelope };

/** The ledger's events for one handoff. The hub's receipts appear with the envelopes that they confirm. */
export function eventsOf(entries: readonly LedgerEntry[], context: RecordContext): TraceEvent[] {
  const receipts = new Map<string, Signature>();
  const refused = new Map<string, StatusCode>();
  const envelopesOf = new Map<number, SignedEntry>();
  for (const entry of entries) {
    if (entry.type !== "envelope") continue;
    const envelope = parseEnvelope(readCompact(entry.content).payload);
    if (isCustodyReceipt(envelope, context.hub)) {
      receipts.set(envelope.re, context.signatureOf(entry.content, entry.at));
    } else envelopesOf.set(entry.sequence, { ...entry, envelope });
  }
  const events: TraceEvent[] = [];
  let offers = 0;
  for (const entry of entries) {
    const signed = envelopesOf.get(entry.sequence);
    if (signed !== undefined) {
      events.push(envelopeEvent(signed, refused.get(entry.digest), receipts, context));
    } else if (entry.type === "decision") {
      const decision = JSON.parse(entry.content) as Decision;
      if (decision.type === "refused") refused.set(decision.digest!, decision.status!);
      if (decision.type === "offer") offers++;
      const event = decisionEvent(entry, decision, offers, context);
      if (event !== undefined) events.push(event);
    }
  }
  return events;
}

function envelopeEvent(
  { sequence, at, content, digest, envelope }: SignedEntry,
  refused: StatusCode | undefined,
  receipts: ReadonlyMap<string, Signature>,
  { signatureOf }: RecordContext,
): TraceEvent {
  const text = refused === undefined ? textOf(envelope) : textOfRefused(envelope, refused);
  return {
    sequence,
    at,
    by: envelope.from,
    attempt: "attempt" in envelope ? envelope.attempt : undefined,
    status: text.status,
    ...text,
    signature: signatureOf(content, at),
    receipt: receipts.get(digest),
  };
}

function decisionEvent(
  { sequence, at }: LedgerEntry,
  decision: Decision,
  offers: number,
  { hub, discardSignatureOf }: RecordContext,
): TraceEvent | undefined {
  const attempt = decision.type === "offer" ? offers : decision.attempt;
  const text = DECISIONS[decision.type]?.({
    ...decision,
    ...(attempt !== undefined && { attempt }),
  });
  if (text === undefined) return undefined;
  const { handoff_id: id, reason = "", signed } = decision;
  const signature =
    signed === undefined ? undefined : discardSignatureOf(id, { reason, signed }, at);
  const by = signed?.by ?? hub;
  return { sequence, at, by, attempt, status: text.status, ...text, signature, receipt: undefined };
}

function isCustodyReceipt(
  envelope: Envelope,
  hub: string,
): envelope is Extract<Envelope, { kind: "receipt" }> {
  return envelope.kind === "receipt" && envelope.from === hub && envelope.body.status === 100;
}

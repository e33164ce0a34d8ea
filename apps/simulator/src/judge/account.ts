import type { LedgerEntry } from "@waybill/hub";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import { STARTS_AT } from "../world/start.ts";

/** The ledger's entries about one handoff, one a line, with times from the world's start. */
export function accountOf(entries: readonly LedgerEntry[], handoffId: string): string[] {
  return entries
    .filter((entry) => entry.handoffId === handoffId)
    .map(({ sequence, at, type, content }) => {
      const what = type === "envelope" ? ofEnvelope(content) : ofDecision(content);
      return `#${sequence} at ${at - STARTS_AT} ms: ${what}`;
    });
}

function ofEnvelope(text: string): string {
  const envelope = parseEnvelope(readCompact(text).payload);
  const { kind, from, to } = envelope;
  const attempt = "attempt" in envelope ? ` of attempt ${envelope.attempt}` : "";
  const status = "status" in envelope.body ? ` ${envelope.body.status}` : "";
  const until = kind === "handoff" ? `, until ${Date.parse(envelope.deadline) - STARTS_AT} ms` : "";
  return `${kind}${status}${attempt} from ${from} to ${typeof to === "string" ? to : to.capability}${until}`;
}

function ofDecision(content: string): string {
  const {
    handoff_id: _id,
    type,
    at: _at,
    digest: _digest,
    ...rest
  } = JSON.parse(content) as {
    [member: string]: unknown;
  };
  return `hub: ${String(type)} ${JSON.stringify(rest)}`;
}

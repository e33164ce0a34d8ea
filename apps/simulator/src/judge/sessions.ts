import { parseEnvelope, principalOf, readCompact, sessionKey } from "@waybill/protocol";
import type { Envelope, SessionState } from "@waybill/protocol";
import type { LedgerEntry } from "@waybill/hub";
import type { Found } from "./verdict.ts";

interface Decision {
  readonly type: string;
  readonly recipient: string;
  readonly session?: SessionState;
}

/**
 * What offers say about sessions must follow from earlier acceptances: no agent continues a
 * conversation in which it never had a turn, and none is reported lost that never existed. Another
 * hub may accept meanwhile, so the offering hub does not always know the last holder.
 */
export function inventedSessions(entries: readonly LedgerEntry[]): Found[] {
  const sessions = new Map<string, string>();
  const holders = new Map<string, Set<string>>();
  const found: Found[] = [];
  for (const { type, handoffId, content } of entries) {
    if (handoffId === null) continue;
    if (type === "envelope") {
      const envelope = parseEnvelope(readCompact(content).payload);
      const name = sessionNameOf(envelope);
      if (name !== undefined) sessions.set(handoffId, name);
      const session = sessions.get(handoffId);
      if (session === undefined || !isTurn(envelope)) continue;
      holders.set(session, (holders.get(session) ?? new Set()).add(envelope.from));
    } else {
      const decision = JSON.parse(content) as Decision;
      if (decision.type !== "offer") continue;
      const session = sessions.get(handoffId);
      if ((session === undefined) !== (decision.session === undefined)) {
        const message = "An offer says something of a session exactly where its handoff names one.";
        found.push({ rule: "session_not_said", handoffId, message });
      }
      const had = holders.get(session ?? "") ?? new Set();
      const { recipient } = decision;
      const others = [...had].filter((each) => each !== recipient);
      const isInvented =
        (decision.session === "continued" && !had.has(recipient)) ||
        (decision.session === "lost" && others.length === 0);
      if (!isInvented) continue;
      const message = `${recipient} was told that the session is ${decision.session}, and ${[...had].join(", ") || "nobody"} had a turn of it.`;
      found.push({ rule: "session_invented", handoffId, message });
    }
  }
  return found;
}

function sessionNameOf(envelope: Envelope): string | undefined {
  if (envelope.kind !== "handoff" || envelope.session === undefined) return undefined;
  return `${sessionKey(principalOf(envelope), envelope.session.id)} ${envelope.body.capability}`;
}

function isTurn(envelope: Envelope): boolean {
  const { kind } = envelope;
  if (kind === "receipt") return envelope.body.status === 101;
  // An agent that sends envelopes about an attempt has accepted it.
  return kind === "result" || kind === "progress" || kind === "question";
}

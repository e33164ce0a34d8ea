import { isFailure } from "@waybill/protocol";
import type { Envelope, StatusCode } from "@waybill/protocol";
import type { WireEntry } from "@waybill/protocol/wire";

/** Where a handoff stands, as its entries of the ledger tell it. */
export type Standing =
  | "waiting"
  | "offered"
  | "accepted"
  | "asks"
  | "completed"
  | "failed"
  | "cancelled"
  | "dead letter";

/** One handoff in a list: what the hub says, without its signatures being checked. */
export interface HandoffRow {
  readonly id: string;
  readonly from: string;
  readonly capability: string;
  readonly correlationId: string;
  /** It is for one agent: nobody else is asked if that one rejects it. */
  readonly isNamed: boolean;
  readonly startedAt: number;
  readonly deadline: number;
  to: string;
  /** Others that were offered it before. */
  earlier: readonly string[] | undefined;
  standing: Standing;
  status: StatusCode | undefined;
  says: string;
  changedAt: number;
}

interface Decision {
  readonly type: string;
  readonly recipient?: string;
  readonly status?: StatusCode;
}

/** Where a handoff stands that has not ended. */
export const OPEN: readonly Standing[] = ["waiting", "offered", "accepted", "asks"];
const ENDED: ReadonlySet<Standing> = new Set(["completed", "failed", "cancelled", "dead letter"]);

/** Whether nothing more can happen to it. */
export function isEnded({ standing }: Pick<HandoffRow, "standing">): boolean {
  return ENDED.has(standing);
}

/** Whether an agent was offered it, or it is for that agent. */
export function isFor({ to, earlier }: HandoffRow, agent: string): boolean {
  return to === agent || earlier?.includes(agent) === true;
}

/** The payload of a compact JWS, unchecked. */
export function payloadOf(compact: string): Envelope {
  const [, payload = ""] = compact.split(".");
  const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (each) =>
    each.charCodeAt(0),
  );
  return JSON.parse(new TextDecoder().decode(bytes)) as Envelope;
}

/**
 * Changes the row that an entry is about, if the page has one, and returns it; or a new one, for an
 * entry with which a handoff begins.
 */
export function apply(row: HandoffRow | undefined, entry: WireEntry): HandoffRow | undefined {
  const { handoff_id: id, type, content } = entry;
  const at = Date.parse(entry.at);
  if (type === "decision") {
    if (row !== undefined) decided(row, JSON.parse(content) as Decision, at);
    return row;
  }
  const envelope = payloadOf(content);
  if (envelope.kind === "handoff") {
    // A repetition changes nothing.
    if (row !== undefined) return row;
    const { from, to, correlation_id: correlationId, deadline, body } = envelope;
    return {
      id: id!,
      from,
      capability: body.capability,
      correlationId,
      isNamed: typeof to === "string",
      startedAt: at,
      deadline: Date.parse(deadline),
      to: typeof to === "string" ? to : "",
      earlier: undefined,
      standing: "waiting",
      status: 100,
      says: "in custody",
      changedAt: at,
    };
  }
  if (row !== undefined && !isEnded(row)) said(row, envelope, at);
  return row;
}

function decided(row: HandoffRow, { type, recipient, status }: Decision, at: number): void {
  if (type === "dead_letter") change(row, at, "dead letter", status ?? 508, "dead letter");
  else if (isEnded(row)) return;
  else if (type === "offer") {
    if (recipient !== undefined) offer(row, recipient);
    change(row, at, "offered", 100, "offered");
  } else if (type === "expire") change(row, at, "dead letter", 504, "the deadline has passed");
  else if (type === "lease_lost") change(row, at, "waiting", 502, "its recipient went silent");
  else if (type === "unreachable") change(row, at, "waiting", 503, "nobody accepted in time");
  else if (type === "parent_ended" || type === "group_decided") {
    change(row, at, "cancelled", 499, "no longer needed");
  }
}

function offer(row: HandoffRow, recipient: string): void {
  const { to, earlier = [] } = row;
  if (to !== "" && to !== recipient) row.earlier = [...earlier, to];
  row.to = recipient;
}

function said(row: HandoffRow, envelope: Envelope, at: number): void {
  switch (envelope.kind) {
    case "progress": {
      const { message, fraction } = envelope.body;
      const share = fraction === undefined ? "" : `${Math.round(fraction * 100)} % `;
      return change(row, at, "accepted", 102, `${share}${message ?? ""}`.trim() || "at work");
    }
    case "question":
      return change(row, at, "asks", 103, envelope.body.questions[0]?.text ?? "asks a question");
    case "answer":
      return change(row, at, "accepted", 102, "answered");
    case "result": {
      const { status, error } = envelope.body;
      const hasFailed = isFailure(status);
      return change(row, at, hasFailed ? "failed" : "completed", status, error?.message ?? "done");
    }
    case "receipt": {
      const { status, reason } = envelope.body;
      if (status === 101) return change(row, at, "accepted", 101, "accepted");
      if (envelope.attempt === undefined) return;
      if (row.isNamed && isFailure(status)) {
        return change(row, at, "failed", status, reason ?? "rejected");
      }
      return change(row, at, "waiting", status, reason ?? "given back");
    }
    case "cancel":
      return change(row, at, "cancelled", 499, envelope.body.reason ?? "cancelled");
    default:
      return;
  }
}

function change(
  row: HandoffRow,
  at: number,
  standing: Standing,
  status: StatusCode,
  says: string,
): void {
  Object.assign(row, { standing, status, says, changedAt: at });
}

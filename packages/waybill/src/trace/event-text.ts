import { statusOf } from "@waybill/protocol";
import type { Envelope, StatusCode } from "@waybill/protocol";
import type { Quota, SignedRequest } from "@waybill/protocol/wire";
import type { TraceEvent } from "./trace.ts";

export type EventText = Pick<TraceEvent, "type" | "says" | "tone"> & {
  readonly status?: StatusCode;
};

/** A hub's record of one of its decisions, as in the ledger. */
export interface Decision extends Quota {
  readonly type: string;
  readonly handoff_id: string;
  readonly recipient?: string;
  readonly attempt?: number;
  readonly status?: StatusCode;
  readonly digest?: string;
  readonly by?: string;
  readonly agent?: string;
  readonly kid?: string;
  readonly who?: string;
  readonly invitation?: string;
  readonly group?: string;
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly reason?: string;
  readonly signed?: SignedRequest;
}

/** The texts for the hub's decisions. Decisions that show with an envelope anyway are not here. */
export const DECISIONS: Readonly<Record<string, (decision: Decision) => EventText>> = {
  offer: ({ recipient, attempt }) => ({
    type: "offered",
    says: `offers ${attempt === undefined ? "it" : `attempt ${attempt}`} to ${recipient}`,
    tone: "step",
  }),
  unreachable: () => ended("unreachable", "nobody accepted in time", 503),
  lease_lost: () => ended("lease_lost", "the recipient went silent", 502),
  parent_ended: () => ended("parent_ended", "its parent handoff has ended", 499),
  group_decided: () => ended("group_decided", "its group no longer needs it", 499),
  expire: () => ended("expired", "the deadline has passed", 504),
  dead_letter: ({ status }) => ended("dead_letter", "moves it to the dead letters", status ?? 508),
  acknowledge: ({ by = "" }) => ({
    type: "acknowledged",
    says: `${by} acknowledges it together with others`,
    tone: "step",
    status: 200,
  }),
  discard: ({ reason }) => ({
    type: "discarded",
    says: said("removes it from the dead letters", reason),
    tone: "step",
  }),
  invited: ({ agent = "an agent" }) => act("invited", `an operator invited ${agent}`),
  revoked: ({ invitation = "" }) =>
    act("revoked", `an operator revoked the invitation ${invitation}`),
  allowed: ({ who = "" }) => act("allowed", `an operator allowed ${who} to enrol`),
  pinned: ({ agent = "", kid = "" }) =>
    act("pinned", `an operator pinned the key ${kid} to ${agent}`),
  repinned: ({ agent = "" }) => act("repinned", `${agent} now uses the pinned key`),
  retired: ({ agent = "" }) => act("retired", `an operator retired ${agent}`),
  recovered: ({ agent = "", kid = "" }) =>
    act("recovered", `${agent} now uses the key ${kid}, confirmed by its recovery key`),
  group_changed: ({ group = "", added = [], removed = [] }) => {
    const parts = [
      ...(added.length > 0 ? [`added ${someOf(added)} to`] : []),
      ...(removed.length > 0 ? [`removed ${someOf(removed)} from`] : []),
    ];
    return act("group_changed", `an operator ${parts.join(" and ")} the group ${group}`);
  },
  group_quota: ({ group = "", open, per_minute }) =>
    act(
      "group_quota",
      `an operator set the quota of the group ${group}: ${quotaText({ open, per_minute })}`,
    ),
  group_removed: ({ group = "" }) => act("group_removed", `an operator removed the group ${group}`),
  enrolled: ({ agent = "", by = "", kid = "" }) =>
    act("enrolled", `enrols ${agent} (${by.replace("_", "-")}) with the key ${kid}`),
  replayed: ({ by }) => ({ type: "replayed", says: `replayed as ${by}`, tone: "step" }),
};

const NAMES_SHOWN = 5;

function someOf(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return names.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** The quota of a group as text for people. */
export function quotaText({ open, per_minute: perMinute }: Quota): string {
  const parts = [
    ...(open === undefined ? [] : [`${open} open`]),
    ...(perMinute === undefined ? [] : [`${perMinute} a minute`]),
  ];
  return parts.length === 0 ? "no quota" : parts.join(", ");
}

function act(type: string, says: string): EventText {
  return { type, says, tone: "step" };
}

function ended(type: string, says: string, status: StatusCode): EventText {
  return {
    type,
    says: `${says}, ${named(status)}`,
    tone: status === 499 ? "warning" : "bad",
    status,
  };
}

export function textOfRefused({ kind }: Envelope, status: StatusCode): EventText {
  return {
    type: "refused",
    says: `sends a ${kind}, refused: ${named(status)}`,
    tone: "warning",
    status,
  };
}

/** What the sender of this envelope did. */
export function textOf(envelope: Envelope): EventText {
  switch (envelope.kind) {
    case "handoff": {
      const { replay_of: replayOf } = envelope;
      const says = replayOf === undefined ? "hands off" : `replays ${replayOf}`;
      return { type: "handoff", says, tone: "step" };
    }
    case "cancel": {
      const says = said("cancels", envelope.body.reason);
      return { type: "cancel", says, tone: "warning", status: 499 };
    }
    case "answer": {
      const says = said("answers", JSON.stringify(envelope.body.answer));
      return { type: "answer", says, tone: "step" };
    }
    case "progress": {
      const { fraction, message } = envelope.body;
      const share = fraction === undefined ? "" : `${Math.round(fraction * 100)} % `;
      const says = `${share}${message ?? ""}`.trim() || "is still working";
      return { type: "progress", says, tone: "step", status: 102 };
    }
    case "question": {
      const asked = envelope.body.questions.map(({ id, text }) => text ?? id).join(" · ");
      const how = envelope.body.state === undefined ? "asks" : "pauses, and asks";
      return { type: "question", says: said(how, asked), tone: "warning", status: 103 };
    }
    case "result": {
      const { status, output, error } = envelope.body;
      if (status === 200) {
        return {
          type: "result",
          says: said("result", JSON.stringify(output)),
          tone: "good",
          status,
        };
      }
      const says = said(`fails, ${named(status)}`, error?.message);
      return { type: "result", says, tone: "bad", status };
    }
    case "notice": {
      const { status, reason } = envelope.body;
      return {
        type: "notice",
        says: said(`notifies ${envelope.to}`, reason),
        tone: "step",
        status,
      };
    }
    case "receipt":
      return textOfReceipt(envelope.body);
  }
}

function textOfReceipt({
  status,
  reason,
  also = [],
}: Extract<Envelope, { kind: "receipt" }>["body"]): EventText {
  if (status === 101) return { type: "accepted", says: "accepts", tone: "good", status };
  if (status === 200) {
    const what = also.length === 0 ? "it" : `${also.length + 1} handoffs`;
    return { type: "acknowledged", says: `acknowledges ${what}`, tone: "step", status };
  }
  const isReleased = status === 300 || status === 301;
  const what = `${isReleased ? "releases it" : "rejects it"}, ${named(status)}`;
  const says = said(what, reason);
  return isReleased
    ? { type: "released", says, tone: "warning", status }
    : { type: "rejected", says, tone: "bad", status };
}

function named(status: StatusCode): string {
  return `${status} ${statusOf(status).name}`;
}

function said(what: string, more: string | undefined): string {
  return more === undefined || more === "" ? what : `${what}: ${more}`;
}

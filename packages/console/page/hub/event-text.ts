import { isStatusCode, statusOf } from "@waybill/protocol";
import type { Envelope } from "@waybill/protocol";

/** What happened, in a few words, and its details. */
export interface EventText {
  readonly what: string;
  readonly more: string;
  readonly tone: "quiet" | "good" | "warn" | "bad";
}

/** What the sender of an envelope did. */
export function envelopeText(envelope: Envelope, hub: string): EventText {
  switch (envelope.kind) {
    case "handoff": {
      const { replay_of: replayOf } = envelope;
      return text("hands off", replayOf === undefined ? "" : `a replay of ${replayOf}`);
    }
    case "cancel":
      return text("cancels", envelope.body.reason, "warn");
    case "answer":
      return text("answers", JSON.stringify(envelope.body.answer));
    case "progress": {
      const { fraction, message = "" } = envelope.body;
      const share = fraction === undefined ? "" : `${Math.round(fraction * 100)} % `;
      return text("reports progress", share + message);
    }
    case "question": {
      const { questions, state } = envelope.body;
      const asked = questions.map((each) => each.text ?? each.id).join(" · ");
      return text(state === undefined ? "asks" : "pauses, and asks", asked, "warn");
    }
    case "result": {
      const { status, error } = envelope.body;
      if (status === 200) return text("returns the result", "", "good");
      return text(`fails: ${named(status)}`, error?.message, "bad");
    }
    case "notice":
      return text(`notifies ${envelope.to}: ${named(envelope.body.status)}`, envelope.body.reason);
    case "receipt": {
      const { status, reason, also = [] } = envelope.body;
      if (envelope.from === hub) return text("confirms custody");
      if (status === 101) return text("accepts", "", "good");
      if (status === 200) {
        const what = also.length === 0 ? "the result" : `${also.length + 1} results`;
        return text(`acknowledges ${what}`);
      }
      const isReleased = status === 300 || status === 301;
      return text(
        `${isReleased ? "gives it back" : "rejects it"}: ${named(status)}`,
        reason,
        "warn",
      );
    }
  }
}

interface Decision {
  readonly type: string;
  readonly recipient?: string;
  readonly status?: number;
  readonly by?: string;
  readonly reason?: string;
  readonly agent?: string;
  readonly group?: string;
}

const DECISIONS: Readonly<Record<string, (decision: Decision) => EventText>> = {
  bound: () => text("sets the terms of the next envelope"),
  refused: ({ status }) =>
    text(
      `refuses the next envelope${status === undefined ? "" : `: ${named(status)}`}`,
      "",
      "warn",
    ),
  taken: () => text("notes that the recipient has it"),
  heartbeat: () => text("notes a heartbeat"),
  enrolled: ({ agent = "" }) => text(`enrols ${agent}`),
  repinned: ({ agent = "" }) => text(`gives ${agent} the key that an operator has pinned`),
  recovered: ({ agent = "" }) => text(`gives ${agent} a new key, signed by its recovery key`),
  retired: ({ agent = "" }) => text(`retires ${agent}, as an operator has decided`),
  group_changed: ({ group = "" }) => text(`changes who is in the group ${group}`),
  group_quota: ({ group = "" }) => text(`changes the quota of the group ${group}`),
  group_removed: ({ group = "" }) => text(`removes the group ${group}`),
  offer: ({ recipient = "" }) => text(`offers it to ${recipient}`),
  unreachable: () => text("ends the attempt: nobody accepted in time", "", "warn"),
  lease_lost: () => text("ends the attempt: the recipient went silent", "", "bad"),
  parent_ended: () => text("ends it: its parent has ended", "", "warn"),
  group_decided: () => text("ends it: its group no longer needs it", "", "warn"),
  expire: () => text("ends it: the deadline has passed", "", "bad"),
  dead_letter: ({ status }) =>
    text(
      `moves it to the dead letters${status === undefined ? "" : `: ${named(status)}`}`,
      "",
      "bad",
    ),
  acknowledge: ({ by = "" }) => text(`notes that ${by} acknowledges the result`),
  discard: ({ reason }) => text("removes it from the dead letters", reason),
  replayed: ({ by = "" }) => text(`notes that it was replayed as ${by}`),
};

/** What the hub decided, as its ledger has it. */
export function decisionText(content: string): EventText {
  const decision = JSON.parse(content) as Decision;
  return DECISIONS[decision.type]?.(decision) ?? text(decision.type.replaceAll("_", " "));
}

function named(status: number): string {
  return isStatusCode(status) ? `${status} ${statusOf(status).name}` : String(status);
}

function text(what: string, more = "", tone: EventText["tone"] = "quiet"): EventText {
  return { what, more, tone };
}

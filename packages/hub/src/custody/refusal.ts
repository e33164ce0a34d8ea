import { statusOf, WaybillError } from "@waybill/protocol";
import type { Envelope, StatusCode } from "@waybill/protocol";

/** Why an envelope was refused, for its sender. A stranger must learn nothing about the handoff. */
export function refusal(status: StatusCode, envelope: Envelope): WaybillError {
  const reason = REASONS[status]?.(envelope) ?? statusOf(status).meaning;
  return new WaybillError(status, `The ${envelope.kind} is refused: ${reason}`);
}

const REASONS: Readonly<Partial<Record<StatusCode, (envelope: Envelope) => string>>> = {
  400: ({ kind }) => `the lifecycle has no such ${kind}.`,
  403: ({ from, handoff_id }) =>
    `${from} may not do that with handoff ${handoff_id} as it stands, if there is one. Only its delegator may cancel, answer and acknowledge, and only who holds an attempt may speak for it. Each names in "to" the party that it is meant for: the delegator, for what a recipient says; the agent that asked, for an answer; the hub, for an acknowledgement; the recipient that the handoff names, or the hub, for a cancellation.`,
  409: ({ handoff_id, id }) =>
    `it contradicts what is on record about handoff ${handoff_id}: another envelope has the id ${id} or that handoff id, or it names another digest.`,
  410: ({ handoff_id }) =>
    `what it speaks of is closed, the attempt or handoff ${handoff_id} as a whole. It is on record and changes nothing: stop that work.`,
  504: () => "its deadline has passed before the hub got it. Hand off anew with a later one.",
};

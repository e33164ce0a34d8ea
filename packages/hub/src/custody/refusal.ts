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
    `${from} may not do this now to handoff ${handoff_id}, if it exists. Check who may: the delegator cancels, answers and acknowledges; the recipient that holds the attempt sends everything else. Check "to": a recipient writes to the delegator, an answer goes to the agent that asked, an acknowledgement to the hub, and a cancellation to the recipient that the handoff names or to the hub.`,
  409: ({ handoff_id, id }) =>
    `it contradicts what is on record about handoff ${handoff_id}: another envelope has the id ${id} or that handoff id, or it names another digest.`,
  410: ({ handoff_id }) =>
    `its attempt, or the whole handoff ${handoff_id}, is already closed. The envelope is on record and changes nothing: stop that work.`,
  504: () => "its deadline has passed before the hub got it. Hand off anew with a later one.",
};

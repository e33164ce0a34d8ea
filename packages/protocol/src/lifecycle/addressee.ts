import type { Envelope } from "../envelope/envelope.ts";
import type { Handoff } from "./handoff.ts";

/** What an addressee check has to know about a handoff. */
export type AddressedHandoff = Pick<Handoff, "delegator" | "recipient" | "attempts" | "questions">;

/**
 * Whether an envelope of a party names in `to` the party that it is meant for: the delegator, for
 * all that a recipient says; the recipient that the handoff names, or the hub, for a cancellation;
 * the agent that asked, for an answer; the hub, for an acknowledgement.
 *
 * A handoff is not about an earlier one, and what a hub says of its own is not checked here: both
 * pass. Without `hub`, so does what may be for the hub.
 */
export function isAddressed(
  envelope: Envelope,
  handoff: AddressedHandoff,
  hub: string | undefined,
): boolean {
  const { to } = envelope;
  switch (envelope.kind) {
    case "handoff":
    case "notice":
      return true;
    case "cancel":
      return to === handoff.recipient || to === (hub ?? to);
    case "answer": {
      const asker = askerOf(envelope.body.question_id, handoff);
      // Whether somebody has asked is checked by the lifecycle.
      return asker === undefined || to === asker;
    }
    case "receipt":
      if (envelope.body.status === 200) return to === (hub ?? to);
      return envelope.attempt === undefined || to === handoff.delegator;
    case "progress":
    case "question":
    case "result":
      return to === handoff.delegator;
  }
}

function askerOf(id: string, { questions, attempts }: AddressedHandoff): string | undefined {
  const question = questions.find((each) => each.id === id);
  return question && attempts[question.attempt - 1]?.recipient;
}

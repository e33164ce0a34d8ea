import { principalOf, sessionFound, sessionKey } from "@waybill/protocol";
import type { HandoffEnvelope, SessionState } from "@waybill/protocol";

/** The conversation that a handoff belongs to, as its handler sees it. */
export interface WorkSession {
  /**
   * The delegator's id for it. Only together with the delegator does it identify a conversation: use
   * `key`.
   */
  readonly id: string;
  /** Identifies the conversation here: 64 hexadecimal digits, derived from the principal and the id. */
  readonly key: string;
  /**
   * What the hub knew when it offered the handoff. `begun`: nobody holds the session. `continued`:
   * this agent holds it. `lost`: another agent held it.
   */
  readonly offered: SessionState;
  /**
   * Reports whether the conversation was found. The delegator sees it in the result, as `continued` if
   * it was, and as `begun` or `lost` if it was not.
   */
  found(hadConversation: boolean): void;
}

/** The session of one attempt, and what the handler has reported about it. */
export class SessionOfWork implements WorkSession {
  readonly id: string;
  readonly key: string;
  readonly offered: SessionState;
  #state: SessionState | undefined;

  constructor(principal: string, id: string, offered: SessionState) {
    this.id = id;
    this.key = sessionKey(principal, id);
    this.offered = offered;
  }

  /** What the result says; undefined if the handler keeps no conversations. */
  get state(): SessionState | undefined {
    return this.#state;
  }

  readonly found = (hadConversation: boolean): void => {
    this.#state = sessionFound(this.offered, hadConversation);
  };
}

export function sessionOf(
  handoff: HandoffEnvelope,
  offered: SessionState = "begun",
): SessionOfWork | undefined {
  const { session } = handoff;
  return session && new SessionOfWork(principalOf(handoff), session.id, offered);
}

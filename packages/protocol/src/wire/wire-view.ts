import type { AttemptState, CloseReason, HandoffState } from "../lifecycle/transitions.ts";
import type { SessionState } from "../session.ts";
import type { StatusCode } from "../status.ts";

/** One attempt, as a party of its handoff may know it. */
export interface AttemptView {
  readonly number: number;
  readonly recipient: string;
  readonly state: AttemptState;
  readonly closed: CloseReason | null;
  readonly status: StatusCode;
}

/**
 * Why an agent that offers a capability has not been offered waiting work. `input`: its schema refuses
 * the input. `terms`: it does not meet the terms. `rejected`: it has rejected the work. `busy`: it has
 * no room. `away`: it is not connected. `session`: it comes after the holder of the session. `next`:
 * nothing is in the way.
 */
export type WaitReason = "input" | "terms" | "rejected" | "busy" | "away" | "session" | "next";

/** A candidate for which a handoff waits, and what is in the way. */
export interface WaitsFor {
  readonly agent_id: string;
  readonly why: WaitReason;
  /** A phrase about the agent, such as "is not connected". */
  readonly reason: string;
}

/** A view as it is sent over the wire. */
export interface WireHandoffView {
  readonly id: string;
  readonly state: HandoffState;
  readonly status: StatusCode;
  readonly deadline: string;
  readonly attempts: readonly AttemptView[];
  readonly is_acknowledged: boolean;
  readonly on_behalf_of?: string | undefined;
  readonly envelope: string;
  readonly acceptance?: string | undefined;
  readonly questions: readonly string[];
  readonly ending?: string | undefined;
  readonly received_at: Readonly<Record<string, string>>;
  readonly session?: SessionState | undefined;
  readonly starts_at?: string | undefined;
  readonly waits_for?: readonly WaitsFor[] | undefined;
}

import type { Digest } from "../signing/digest.ts";
import type { SessionState } from "../session.ts";
import type { StatusCode } from "../status.ts";
import type { AttemptState, CloseReason, HandoffState } from "./transitions.ts";

/** The terms of a contract that time and retries depend on. All durations in milliseconds. */
export interface LifecycleTerms {
  /** Attempts that may end in silence, interruption or a retryable failure. */
  readonly maxAttempts: number;
  /** How long an accepted attempt may stay silent. */
  readonly leaseMs: number;
  /** How long an offered attempt may go untaken. */
  readonly offerMs: number;
  /** How long the signed acceptance may follow after "taken". */
  readonly graceMs: number;
  /** The delay before the second attempt; it doubles with each further one, up to the cap. */
  readonly backoffMs: number;
  readonly backoffCapMs: number;
}

/** The terms of a handoff where manifest and contract say nothing. */
export const DEFAULT_TERMS: LifecycleTerms = {
  maxAttempts: 3,
  leaseMs: 30_000,
  offerMs: 10_000,
  graceMs: 5_000,
  backoffMs: 500,
  backoffCapMs: 60_000,
};

/** One attempt of a recipient at a handoff. */
export interface Attempt {
  readonly number: number;
  readonly recipient: string;
  readonly state: AttemptState;
  readonly closed: CloseReason | null;
  /** A 1xx status while it lives, then the one that it closed with. */
  readonly status: StatusCode;
  readonly isTaken: boolean;
  /** When it is lost without a sign of life; null while only the deadline counts. */
  readonly silentAt: number | null;
}

/** A question of a recipient, and whether it was answered. */
export interface Question {
  /** Unique within the handoff, and owned by the recipient that asked first. */
  readonly id: string;
  /** The attempt that asked last. */
  readonly attempt: number;
  /** Digest of the answer, null while the question is open. */
  readonly answer: Digest | null;
}

/** A handoff as the lifecycle sees it: its state, and its attempts so far. */
export interface Handoff {
  readonly id: string;
  /** Digest of the envelope that the delegator signed. */
  readonly digest: Digest;
  readonly delegator: string;
  /** The addressed agent, or null if the hub picks one by capability. */
  readonly recipient: string | null;
  readonly deadline: number;
  readonly terms: LifecycleTerms;
  readonly state: HandoffState;
  readonly status: StatusCode;
  readonly attempts: readonly Attempt[];
  readonly questions: readonly Question[];
  /** When the next attempt may be offered; null while one is live or has to be awaited. */
  readonly nextAttemptAt: number | null;
  /**
   * The paused attempt from whose state the next one resumes, and the only agent that understands the
   * state.
   */
  readonly resumes: { readonly attempt: number; readonly recipient: string } | null;
  /** Digest of the envelope that ended it; null while open, and if no envelope did. */
  readonly outcome: Digest | null;
  readonly isAcknowledged: boolean;
  readonly isDiscarded: boolean;
}

interface Cause {
  /** When it happened, in milliseconds, by the caller's clock. */
  readonly at: number;
}
interface RecipientCause extends Cause {
  readonly by: string;
  readonly attempt: number;
}
interface SignedRecipientCause extends RecipientCause {
  /** Digest of the handoff that the recipient signed for. */
  readonly re: Digest;
}
interface DelegatorCause extends Cause {
  readonly by: string;
}

/** The events of a handoff. */
export type LifecycleEvent =
  | (DelegatorCause & {
      readonly type: "submit";
      readonly id: string;
      readonly digest: Digest;
      readonly recipient: string | null;
      readonly deadline: number;
      /** The earliest time at which it may be offered. */
      readonly notBefore?: number | undefined;
      readonly terms?: Partial<LifecycleTerms>;
    })
  | (Cause & {
      readonly type: "offer";
      readonly recipient: string;
      /** What the hub knew of the session, for the record: no step depends on it. */
      readonly session?: SessionState | undefined;
    })
  | (RecipientCause & { readonly type: "taken" | "heartbeat" })
  | (SignedRecipientCause & { readonly type: "accept" | "progress" })
  | (SignedRecipientCause & {
      readonly type: "question" | "pause";
      readonly questions: readonly string[];
    })
  | (SignedRecipientCause & {
      readonly type: "reject";
      readonly status: StatusCode;
      readonly digest: Digest;
    })
  | (SignedRecipientCause & {
      readonly type: "release";
      readonly status: 300 | 301;
      readonly retryAfterMs?: number | undefined;
    })
  | (SignedRecipientCause & {
      readonly type: "result";
      readonly status: StatusCode;
      readonly digest: Digest;
      readonly isRetryable?: boolean | undefined;
      readonly retryAfterMs?: number | undefined;
    })
  | (DelegatorCause & {
      readonly type: "answer";
      readonly question: string;
      readonly digest: Digest;
    })
  | (DelegatorCause & { readonly type: "cancel"; readonly digest: Digest })
  | (DelegatorCause & { readonly type: "acknowledge"; readonly outcome: Digest })
  | (Cause & { readonly type: "unreachable" | "lease_lost"; readonly attempt: number })
  /** The parent has ended, so nobody needs the handoff any more. */
  | (Cause & { readonly type: "parent_ended" })
  /** The group of this member is decided, so nobody needs it any more. */
  | (Cause & { readonly type: "group_decided" })
  | (Cause & { readonly type: "expire" })
  | (Cause & { readonly type: "dead_letter"; readonly status: StatusCode })
  | (Cause & { readonly type: "discard" });

export type EventOf<Type extends LifecycleEvent["type"]> = Extract<
  LifecycleEvent,
  { readonly type: Type }
>;

/** What has to be done after a step. */
export type LifecycleEffect =
  /** The answer to the sender of the event. Every step has exactly one, and it comes first. */
  | { readonly type: "reply"; readonly status: StatusCode }
  /** Offer attempt n to its recipient. */
  | { readonly type: "offer"; readonly attempt: number; readonly recipient: string }
  /** Pass the event on to the other party. */
  | { readonly type: "forward"; readonly to: "delegator" | "recipient"; readonly attempt: number }
  /** Tell the recipient that its attempt is closed, so that its work stops. */
  | {
      readonly type: "stop";
      readonly attempt: number;
      readonly recipient: string;
      readonly status: StatusCode;
    }
  /** The handoff may be offered again from then on. */
  | { readonly type: "retry"; readonly at: number }
  /** The handoff has ended: notify the delegator, cancel the children, disarm the timers. */
  | { readonly type: "ended"; readonly state: HandoffState; readonly status: StatusCode };

/** The result of a step: the new state, and what has to be done. */
export interface Step {
  readonly state: Handoff | undefined;
  readonly effects: readonly LifecycleEffect[];
}

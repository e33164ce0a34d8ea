/** The states of a handoff: all but `open` are ends. */
export type HandoffState = "open" | "completed" | "failed" | "cancelled" | "dead_lettered";
/** The states of an attempt. */
export type AttemptState = "offered" | "accepted" | "waiting" | "closed";
/** Why an attempt is closed. */
export type CloseReason =
  | "result"
  | "rejected"
  | "released"
  | "paused"
  | "interrupted"
  | "lease_lost"
  | "unreachable"
  | "superseded";
/** Who can cause an event in the life of a handoff. */
export type Party = "delegator" | "recipient" | "hub" | "operator";

export type AttemptEventName =
  | "taken"
  | "heartbeat"
  | "accept"
  | "progress"
  | "question"
  | "answer"
  | "pause"
  | "reject"
  | "release"
  | "result"
  | "interrupt"
  | "unreachable"
  | "lease_lost"
  | "end";

export interface AttemptMove {
  readonly by: Party;
  /** The next state of the attempt from each state; a missing state refuses the event. */
  readonly moves: Readonly<Partial<Record<AttemptState, AttemptState>>>;
  readonly closes?: CloseReason;
}

const closesAnyLive = { offered: "closed", accepted: "closed", waiting: "closed" } as const;
const staysWhereItIs = { offered: "offered", accepted: "accepted", waiting: "waiting" } as const;

/**
 * Every transition of an attempt that exists. Others are impossible: the reducer looks up here where
 * an event leads from a state, and the diagram in the specification is drawn from it.
 */
export const ATTEMPT_MOVES: Readonly<Record<AttemptEventName, AttemptMove>> = {
  taken: { by: "recipient", moves: staysWhereItIs },
  heartbeat: { by: "recipient", moves: staysWhereItIs },
  accept: { by: "recipient", moves: { offered: "accepted" } },
  // Everything that a recipient signs names the digest of the handoff, so it stands for an acceptance
  // that the network has reordered.
  progress: { by: "recipient", moves: { ...staysWhereItIs, offered: "accepted" } },
  question: {
    by: "recipient",
    moves: { offered: "waiting", accepted: "waiting", waiting: "waiting" },
  },
  // After the last outstanding answer; with others open the attempt keeps waiting.
  answer: { by: "delegator", moves: { waiting: "accepted" } },
  pause: { by: "recipient", moves: closesAnyLive, closes: "paused" },
  reject: { by: "recipient", moves: { offered: "closed" }, closes: "rejected" },
  release: { by: "recipient", moves: closesAnyLive, closes: "released" },
  result: { by: "recipient", moves: closesAnyLive, closes: "result" },
  interrupt: { by: "recipient", moves: closesAnyLive, closes: "interrupted" },
  unreachable: { by: "hub", moves: { offered: "closed" }, closes: "unreachable" },
  // An attempt that was taken but never accepted may have had effects: it is lost, not unreachable.
  lease_lost: {
    by: "hub",
    moves: { offered: "closed", accepted: "closed" },
    closes: "lease_lost",
  },
  end: { by: "hub", moves: closesAnyLive, closes: "superseded" },
};

export interface CloseRule {
  /** Whether the recipient has decided: an end without a verdict is a dead letter. */
  readonly isVerdict: boolean;
  /** Whether the attempt counts towards those that the contract allows. */
  readonly countsAsTry: boolean;
  readonly meaning: string;
}

/** Why an attempt is closed, whether that is the recipient's verdict, and whether it counts as an attempt. */
export const CLOSE_REASONS: Readonly<Record<CloseReason, CloseRule>> = {
  result: { isVerdict: true, countsAsTry: true, meaning: "the recipient sent its result" },
  rejected: { isVerdict: true, countsAsTry: false, meaning: "the recipient will not do it" },
  released: {
    isVerdict: false,
    countsAsTry: false,
    meaning: "the recipient gave it back, not now",
  },
  paused: {
    isVerdict: false,
    countsAsTry: false,
    meaning: "the recipient asked and left its state",
  },
  interrupted: {
    isVerdict: false,
    countsAsTry: true,
    meaning: "the recipient restarted in the middle",
  },
  lease_lost: { isVerdict: false, countsAsTry: true, meaning: "the recipient went silent" },
  unreachable: { isVerdict: false, countsAsTry: false, meaning: "the recipient did not take it" },
  superseded: { isVerdict: false, countsAsTry: false, meaning: "the handoff ended without it" },
};

export type HandoffEventName =
  | "submit"
  | "succeed"
  | "fail"
  | "reject"
  | "cancel"
  | "parent_ended"
  | "group_decided"
  | "expire"
  | "exhaust"
  | "dead_letter";

export interface HandoffMove {
  readonly by: Party;
  readonly from: "none" | "open";
  readonly to: HandoffState;
  readonly meaning: string;
}

/** Every transition of a handoff. No row leads out of an ended state: nothing is ever reopened. */
export const HANDOFF_MOVES: Readonly<Record<HandoffEventName, HandoffMove>> = {
  submit: { by: "delegator", from: "none", to: "open", meaning: "the hub takes custody" },
  succeed: { by: "recipient", from: "open", to: "completed", meaning: "a result of 200" },
  fail: {
    by: "recipient",
    from: "open",
    to: "failed",
    meaning: "a failing result and no further try",
  },
  reject: {
    by: "recipient",
    from: "open",
    to: "failed",
    meaning: "a rejection and nobody else to ask",
  },
  cancel: { by: "delegator", from: "open", to: "cancelled", meaning: "not wanted any more" },
  parent_ended: {
    by: "hub",
    from: "open",
    to: "cancelled",
    meaning: "the handoff that it is part of ended",
  },
  group_decided: {
    by: "hub",
    from: "open",
    to: "cancelled",
    meaning: "its group is decided without it",
  },
  expire: { by: "hub", from: "open", to: "dead_lettered", meaning: "the deadline has come" },
  exhaust: {
    by: "hub",
    from: "open",
    to: "dead_lettered",
    meaning: "the last attempt allowed ended without a verdict",
  },
  dead_letter: {
    by: "hub",
    from: "open",
    to: "dead_lettered",
    meaning: "nobody can be asked at all",
  },
};

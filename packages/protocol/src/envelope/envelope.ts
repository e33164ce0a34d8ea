import type {
  AnswerBody,
  CancelBody,
  HandoffBody,
  NoticeBody,
  ProgressBody,
  QuestionBody,
  ReceiptBody,
  ResultBody,
  Wanted,
} from "./body.ts";
import type { Session } from "../session.ts";
import type { Digest } from "../signing/digest.ts";

/** The size of a group, and this handoff's index among those that were fanned out together. */
export interface Group {
  id: string;
  index: number;
  size: number;
  join: "all" | "any" | "quorum";
  /** With `quorum`: how many successes suffice. */
  quorum?: number | undefined;
  /** What happens to the other members once the group can't succeed any more; `cancel` by default. */
  on_failure?: "cancel" | "wait" | undefined;
}

interface EnvelopeBase<Kind extends string, Body> {
  waybill: 1;
  kind: Kind;
  id: string;
  from: string;
  handoff_id: string;
  correlation_id: string;
  issued_at: string;
  /** 128 random bits, erased with the contents: without them a digest does not reveal what it names. */
  salt: string;
  traceparent?: string | undefined;
  tracestate?: string | undefined;
  /** JSON Pointers to members that a reader has to know: one that does not refuses the envelope. */
  critical?: string[] | undefined;
  body: Body;
}

/** The delegator's handoff: the work, its addressee, and its deadline. */
export interface HandoffEnvelope extends EnvelopeBase<"handoff", HandoffBody> {
  /** The custody domain that it is meant for: other hubs refuse it. */
  domain: string;
  to: string | Wanted;
  /** The person or system for whom its delegator acts. */
  on_behalf_of?: string | undefined;
  deadline: string;
  /** It is not offered before this time. */
  not_before?: string | undefined;
  /** Its place in the queue, from 0, the last, to 9, the first; 4 by default. */
  priority?: number | undefined;
  parent_id?: string | undefined;
  /** How many handoffs are above this one: 0, or its parent's number plus one. */
  hop?: number | undefined;
  group?: Group | undefined;
  /** The conversation that it belongs to. */
  session?: Session | undefined;
  /** The ended handoff that this one retries. */
  replay_of?: string | undefined;
}

interface Addressed {
  to: string;
}

/** An envelope of the delegator about its own handoff. */
export interface CancelEnvelope extends EnvelopeBase<"cancel", CancelBody>, Addressed {}

/** The delegator's answer to a question. */
export interface AnswerEnvelope extends EnvelopeBase<"answer", AnswerBody>, Addressed {
  /** Digest of the question that this answers. */
  re: Digest;
}

/** An envelope of a recipient: it names its attempt, and by `re` the exact handoff that it took. */
interface OfAttempt {
  attempt: number;
  re: Digest;
}

/**
 * Confirms an envelope: custody by the hub, acceptance or refusal by a recipient, acknowledgement by a
 * delegator.
 */
export interface ReceiptEnvelope extends EnvelopeBase<"receipt", ReceiptBody>, Addressed {
  re: Digest;
  /** Absent in receipts of hubs and delegators, which hold no attempt. */
  attempt?: number | undefined;
}

/** The recipient reports its progress. */
export interface ProgressEnvelope
  extends EnvelopeBase<"progress", ProgressBody>, Addressed, OfAttempt {}

/** The recipient asks, and either waits for the answer or ends its attempt with the question. */
export interface QuestionEnvelope
  extends EnvelopeBase<"question", QuestionBody>, Addressed, OfAttempt {}

/** The recipient's result: an output, or an error. */
export interface ResultEnvelope extends EnvelopeBase<"result", ResultBody>, Addressed, OfAttempt {}

/** The hub's notice of what no party has signed: an attempt that fell silent, an end without a verdict. */
export interface NoticeEnvelope extends EnvelopeBase<"notice", NoticeBody>, Addressed {
  attempt?: number | undefined;
  re?: Digest | undefined;
}

/** Any envelope, discriminated by its `kind`. */
export type Envelope =
  | HandoffEnvelope
  | CancelEnvelope
  | AnswerEnvelope
  | ReceiptEnvelope
  | ProgressEnvelope
  | QuestionEnvelope
  | ResultEnvelope
  | NoticeEnvelope;

/** The kinds of envelopes. */
export type EnvelopeKind = Envelope["kind"];

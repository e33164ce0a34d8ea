import type { Contract } from "../contract/contract.ts";
import type { SessionState } from "../session.ts";
import type { Digest } from "../signing/digest.ts";
import type { Json } from "../json/json.ts";
import type { StatusCode } from "../status.ts";
import type { Usage } from "../usage/usage.ts";

/**
 * One piece of a message. Every reader understands `text`. A part of the type `image`, `audio` or
 * `file` has a `media_type` and either `data`, in unpadded base64url, or an http or https `url`. Parts
 * of other types are passed on unchanged.
 */
export interface ContentPart {
  type: string;
  text?: string | undefined;
  [member: string]: unknown;
}

/** One turn of a conversation, as every framework can read it. */
export interface Message {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  name?: string | undefined;
  content: ContentPart[];
  [member: string]: unknown;
}

/** A file sent along: its bytes in unpadded base64url, a URL, or the size of a blob at the hub. */
export interface Artifact {
  name: string;
  media_type: string;
  digest: Digest;
  data?: string | undefined;
  url?: string | undefined;
  /** The size in bytes of a blob, which the hub stores under its digest. */
  size?: number | undefined;
}

/** A task in words, as a crew calls it. */
export interface Brief {
  instruction: string;
  expected_output?: string | undefined;
}

/** What the hub may choose from, instead of a named recipient. */
export interface Wanted {
  capability: string;
  version?: string | undefined;
  tags?: string[] | undefined;
  min_reliability?: number | undefined;
}

/** The body of a handoff: the capability, and the work in any of its three forms. */
export interface HandoffBody {
  capability: string;
  version?: string | undefined;
  input?: Json | undefined;
  brief?: Brief | undefined;
  messages?: Message[] | undefined;
  artifacts?: Artifact[] | undefined;
  contract?: Contract | undefined;
  metadata?: { [name: string]: Json } | undefined;
}

/** The body of a cancellation. */
export interface CancelBody {
  reason?: string | undefined;
}

/** The body of an answer. */
export interface AnswerBody {
  question_id: string;
  answer: Json;
}

/**
 * A further handoff that a receipt is about, and the digest of what it confirms: in an acknowledgement
 * the envelope or notice that ended the handoff, in a custody receipt the envelope that was taken.
 */
export interface ListedHandoff {
  handoff_id: string;
  re: Digest;
}

/** A handoff that a hub has refused to acknowledge, and why. */
export interface RefusedHandoff {
  handoff_id: string;
  status: StatusCode;
}

/** The body of a receipt: its status says what it confirms. */
export interface ReceiptBody {
  status: StatusCode;
  /** With 100 and 200: what else it confirms. */
  also?: ListedHandoff[] | undefined;
  /** In the hub's receipt for such a list: the handoffs that it did not acknowledge. */
  refused?: RefusedHandoff[] | undefined;
  reason?: string | undefined;
  /** With 406: the terms that would be accepted. */
  counter?: Contract | undefined;
  retry_after_ms?: number | undefined;
  /** With 101, if the handoff names a session: what the hub knew of it when it offered the handoff. */
  session?: SessionState | undefined;
}

/** The body of a progress report. */
export interface ProgressBody {
  message?: string | undefined;
  /** The completed fraction, from 0 to 1. */
  fraction?: number | undefined;
  data?: Json | undefined;
}

/** One question to the delegator. */
export interface AskedQuestion {
  id: string;
  text?: string | undefined;
  data?: Json | undefined;
  /** A schema of a valid answer. */
  schema?: Json | undefined;
}

/** The body of a question, or of several that are asked together. */
export interface QuestionBody {
  questions: AskedQuestion[];
  /** Present if the attempt ends with the question: the state from which the next one resumes. */
  state?: string | undefined;
  /** Beside a state: the usage of the attempt that ends with the question. */
  usage?: Usage | undefined;
}

/** Why the work has failed, according to the recipient. */
export interface ResultError {
  message: string;
  retryable?: boolean | undefined;
  retry_after_ms?: number | undefined;
  cause?: Json | undefined;
}

/** The body of a result. */
export interface ResultBody {
  status: StatusCode;
  output?: Json | undefined;
  messages?: Message[] | undefined;
  artifacts?: Artifact[] | undefined;
  error?: ResultError | undefined;
  effects?: "none" | "possible" | "done" | undefined;
  /** The usage of the attempt, also of one that has failed. */
  usage?: Usage | undefined;
  /** If the handoff names a session and the recipient keeps conversations: what it has found. */
  session?: SessionState | undefined;
}

/** The body of a hub's notice. */
export interface NoticeBody {
  status: StatusCode;
  reason: string;
  data?: Json | undefined;
}

import type { Contract } from "../contract/contract.ts";
import type { SessionState } from "../session.ts";
import type { Digest } from "../signing/digest.ts";
import type { Json } from "../json/json.ts";
import type { StatusCode } from "../status.ts";
import type { Usage } from "../usage/usage.ts";

/**
 * One piece of a message. `text` is understood by everyone. A part of the type `image`, `audio` or
 * `file` has a `media_type` and either `data`, in unpadded base64url, or an http or https `url`. Parts
 * of other types travel whole.
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

/** A file that travels along: its bytes in unpadded base64url, where they lie, or, as a blob at the hub, how many they are. */
export interface Artifact {
  name: string;
  media_type: string;
  digest: Digest;
  data?: string | undefined;
  url?: string | undefined;
  /** In bytes: the artifact is a blob, which the hub keeps under its digest. */
  size?: number | undefined;
}

/** A delegated task in words: what a crew calls a task. */
export interface Brief {
  instruction: string;
  expected_output?: string | undefined;
}

/** Whom the hub may pick, instead of a name. */
export interface Wanted {
  capability: string;
  version?: string | undefined;
  tags?: string[] | undefined;
  min_reliability?: number | undefined;
}

/** The body of a handoff: the capability, and the work in any of its three shapes. */
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

/** The body of a receipt: its status says what it confirms. */
export interface ReceiptBody {
  status: StatusCode;
  reason?: string | undefined;
  /** With 406: the terms that would be accepted. */
  counter?: Contract | undefined;
  retry_after_ms?: number | undefined;
  /** With 101, where the handoff names a session: what the hub knew of it when it offered the handoff. */
  session?: SessionState | undefined;
}

/** The body of a progress report. */
export interface ProgressBody {
  message?: string | undefined;
  /** How much is done, from 0 to 1. */
  fraction?: number | undefined;
  data?: Json | undefined;
}

/** One question to the delegator. */
export interface AskedQuestion {
  id: string;
  text?: string | undefined;
  data?: Json | undefined;
  /** What an answer must look like. */
  schema?: Json | undefined;
}

/** The body of a question, or of several that are asked together. */
export interface QuestionBody {
  questions: AskedQuestion[];
  /** Present when the attempt ends with the question: what the next one starts from. */
  state?: string | undefined;
  /** Next to a state: what the attempt that ends with the question has used. */
  usage?: Usage | undefined;
}

/** Why the work has failed, as the recipient tells it. */
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
  /** What the attempt has used, also where it has failed. */
  usage?: Usage | undefined;
  /** Where the handoff names a session, and the recipient keeps conversations: what it has found. */
  session?: SessionState | undefined;
}

/** The body of a hub's notice. */
export interface NoticeBody {
  status: StatusCode;
  reason: string;
  data?: Json | undefined;
}

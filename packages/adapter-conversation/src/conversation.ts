import type OpenAI from "openai";
import type { Ask } from "@waybill/agent";
import type {
  Artifact,
  Json,
  JsonSchema,
  Message,
  UsageRow,
  WaybillError,
} from "@waybill/protocol";
import type { Tool, ToolUse } from "./tool.ts";
import type { Question } from "./waiting-for-answer.ts";

/** An agent that is a conversation of a model with its tools. */
export interface Conversation {
  /** The client of the `openai` package, for OpenAI or a compatible host. */
  readonly client: OpenAI;
  readonly model: string;
  /** The client's API to use, by default `chat` completions. */
  readonly api?: "chat" | "responses" | undefined;
  /** The author of all that the model says. */
  readonly name?: string | undefined;
  readonly instructions?: string | undefined;
  /** A function is called for each conversation: other agents may have joined the hub meanwhile. */
  readonly tools?: readonly Tool[] | (() => Promise<readonly Tool[]> | readonly Tool[]) | undefined;
  /** The maximum number of model calls in one conversation, by default 16. */
  readonly turnsAtMost?: number | undefined;
  /** Additional members of each request to the model, such as a temperature or a token limit. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
}

/** The input of a conversation. */
export interface Converse {
  /**
   * Identifies the conversation. A repeated conversation with the same id finds its handoffs again.
   */
  readonly run: string;
  readonly messages: readonly Message[];
  readonly artifacts?: readonly Artifact[] | undefined;
  /** The result of an earlier run of it, which this one continues. */
  readonly after?: Pick<Reply, "messages" | "artifacts"> | undefined;
  /** The schema of the final answer. */
  readonly output?: JsonSchema | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Called with the model's text as it is streamed. */
  readonly onDelta?: ((text: string) => void) | undefined;
  /** Called with what a tool reports, and its use. */
  readonly onProgress?: ((event: unknown, use?: ToolUse) => void) | undefined;
  /** Answers questions. By default, the conversation pauses with them. */
  readonly onQuestion?: ((question: Ask, use: ToolUse) => Promise<Json>) | undefined;
  /** The answers to the questions it paused with, by question id. */
  readonly answers?: ReadonlyMap<string, Json> | undefined;
}

/** The result of one turn of a conversation. */
export interface Reply {
  /** The final text. Empty if it has paused. */
  readonly text: string;
  /** The messages that were added, in order. */
  readonly messages: readonly Message[];
  /** The files that tools have made or brought. */
  readonly artifacts: readonly Artifact[];
  /** The usage of the model and of the agents it handed off to. */
  readonly usage: readonly UsageRow[];
  /** Failures of handoffs and tools. The model was told of them, and answered all the same. */
  readonly failures: readonly WaybillError[];
  /**
   * The questions that the conversation waits for: it continues `after` this reply, with `answers`.
   */
  readonly questions: readonly Question[];
}

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
  /** The client of the `openai` package, for OpenAI or whoever speaks as it does. */
  readonly client: OpenAI;
  readonly model: string;
  /** Which of the client's APIs it is held by: `chat` completions where this is left out. */
  readonly api?: "chat" | "responses" | undefined;
  /** Stands with all that the model says. */
  readonly name?: string | undefined;
  readonly instructions?: string | undefined;
  /** A function is asked anew for each conversation: others may have come to the hub meanwhile. */
  readonly tools?: readonly Tool[] | (() => Promise<readonly Tool[]> | readonly Tool[]) | undefined;
  /** How often the model is asked at most in one conversation, 16 where it is left out. */
  readonly turnsAtMost?: number | undefined;
  /** More for each request to the model: a temperature, a limit of tokens. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
}

/** What a conversation is held about. */
export interface Converse {
  /** Names the conversation. What it hands off is found again when one of this name goes on. */
  readonly run: string;
  readonly messages: readonly Message[];
  readonly artifacts?: readonly Artifact[] | undefined;
  /** What an earlier run of it has come to: goes on there. */
  readonly after?: Pick<Reply, "messages" | "artifacts"> | undefined;
  /** The form of the last words. */
  readonly output?: JsonSchema | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Hears the words of the model as they are streamed. */
  readonly onDelta?: ((text: string) => void) | undefined;
  /** Hears what a tool reports, with its use. */
  readonly onProgress?: ((event: unknown, use?: ToolUse) => void) | undefined;
  /** Answers questions. Left out: the conversation pauses with them. */
  readonly onQuestion?: ((question: Ask, use: ToolUse) => Promise<Json>) | undefined;
  /** To what it has paused with, by the ids of the questions. */
  readonly answers?: ReadonlyMap<string, Json> | undefined;
}

/** What one turn of a conversation has come to. */
export interface Reply {
  /** The last words. Empty where it has paused. */
  readonly text: string;
  /** What was added, tool by tool and turn by turn. */
  readonly messages: readonly Message[];
  /** What tools have made or brought. */
  readonly artifacts: readonly Artifact[];
  /** What was used: by the model, and by other agents that were handed to. */
  readonly usage: readonly UsageRow[];
  /** What was handed off or tried and has failed. The model was told, and has said what it said. */
  readonly failures: readonly WaybillError[];
  /** What the conversation waits for: it goes on `after` this, with `answers`. */
  readonly questions: readonly Question[];
}

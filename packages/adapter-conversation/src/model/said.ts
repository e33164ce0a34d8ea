import type OpenAI from "openai";
import type { JsonSchema, Message, UsageRow } from "@waybill/protocol";
import type { Tool } from "../tool.ts";

/** What a model is asked, whichever API it is asked by. */
export interface ModelRequest {
  readonly client: OpenAI;
  readonly model: string;
  /** What the agent is called itself. */
  readonly name: string | undefined;
  readonly instructions: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** The form of what it is to say, where that is not simply text. */
  readonly form: JsonSchema | undefined;
  /** Members of the request beyond these. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  onDelta(delta: string): void;
}

/** One turn of a model. */
export interface Said {
  readonly text: string;
  readonly calls: readonly SaidCall[];
  readonly refusal: string | undefined;
  /** What the API has counted. */
  readonly usage: UsageRow | undefined;
  /** Why it stopped before it had come to its end. */
  readonly cutBy: string | undefined;
}

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  /** As the model has spelled them: it may be no JSON. */
  readonly arguments: string;
}

/** How a form is called where an API wants a name for it. */
export const FORM_NAME = "output";

import type OpenAI from "openai";
import type { JsonSchema, Message, UsageRow } from "@waybill/protocol";
import type { Tool } from "../tool.ts";

/** A request to a model, for either API. */
export interface ModelRequest {
  readonly client: OpenAI;
  readonly model: string;
  /** The name of the agent itself. */
  readonly name: string | undefined;
  readonly instructions: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** The schema of the answer, if it is not plain text. */
  readonly form: JsonSchema | undefined;
  /** Additional members of the request. */
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
  /** As the API has reported it. */
  readonly usage: UsageRow | undefined;
  /** Why it stopped before it had finished. */
  readonly cutBy: string | undefined;
}

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  /** As the model has written them: possibly not JSON. */
  readonly arguments: string;
}

/** The schema's name, for an API that requires one. */
export const FORM_NAME = "output";

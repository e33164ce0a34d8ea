import { QUESTION_TOOL, wordsOf } from "@waybill/agent/adapter";
import type { Ask } from "@waybill/agent";
import type {
  Artifact,
  Json,
  JsonSchema,
  Message,
  UsageRow,
  WaybillError,
} from "@waybill/protocol";

/** One use of a tool, as the tool sees it. */
export interface ToolUse {
  /** The id that the model gave its call. */
  readonly id: string;
  /**
   * Identifies the conversation: together with `id` it identifies this use, also when it is
   * repeated.
   */
  readonly run: string;
  /** Everything that was said before the call, independent of what the model was shown. */
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly signal: AbortSignal;
  progress(event: unknown): void;
  /**
   * Asks the delegator of the conversation. If it is not here, the conversation pauses until it has
   * answered.
   */
  ask(question: Ask): Promise<Json>;
}

/** What a tool returns. */
export interface ToolReply {
  readonly output?: Json | undefined;
  /** What another agent has said while it worked. */
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
  /** The agent whose words these are, if not this one's: the model is told so. */
  readonly by?: string | undefined;
  /** The usage of other agents. */
  readonly usage?: readonly UsageRow[] | undefined;
  /** Told to the model as data; the conversation continues. */
  readonly failure?: WaybillError | undefined;
  /** Ends the conversation; the model is not called again. */
  readonly isLast?: boolean | undefined;
}

/** A tool for a model. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonSchema;
  /** An `AbortError` or a `WaybillError` ends the conversation; other errors are told to the model. */
  use(input: Json, use: ToolUse): Promise<ToolReply>;
}

/** A tool that runs in this process. */
export interface LocalTool<Input> extends Omit<Tool, "use"> {
  run(input: Input, use: ToolUse): Promise<Json> | Json;
}

/** A function as a tool. */
export function localTool<Input = Json>({ run, ...tool }: LocalTool<Input>): Tool {
  return { ...tool, use: async (input, use) => ({ output: await run(input as Input, use) }) };
}

/** Lets the model ask the delegator of the conversation. */
export function questionTool(name: string = QUESTION_TOOL.name): Tool {
  return localTool<{ question: string }>({
    ...QUESTION_TOOL,
    name,
    run: async ({ question }, use) => wordsOf(await use.ask({ id: use.id, text: question })),
  });
}

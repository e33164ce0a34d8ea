import { wordsOf } from "@waybill/agent/adapter";
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
  /** Names the conversation: together with `id` it names this use, also when it is run again. */
  readonly run: string;
  /** What was said before the call, whole, whatever the model was shown of it. */
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly signal: AbortSignal;
  progress(event: unknown): void;
  /** Asks whom the conversation is held for. Where they are not here, it pauses until they have answered. */
  ask(question: Ask): Promise<Json>;
}

/** What a tool gives back. */
export interface ToolReply {
  readonly output?: Json | undefined;
  /** What another agent has said on the way to it. */
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
  /** Whose words these are where they are another agent's: the model is told so. */
  readonly by?: string | undefined;
  /** What other agents have used for it. */
  readonly usage?: readonly UsageRow[] | undefined;
  /** Told to the model as data; the conversation goes on. */
  readonly failure?: WaybillError | undefined;
  /** The conversation is over with it, and the model is not asked again. */
  readonly isLast?: boolean | undefined;
}

/** Something that a model can use. */
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

/** Lets the model ask whom the conversation is held for. */
export function questionTool(name = "ask_delegator"): Tool {
  return localTool<{ question: string }>({
    name,
    description:
      "Asks whoever gave you this work, and gives their answer. Use it only for what you can't find out or decide yourself.",
    parameters: {
      type: "object",
      properties: { question: { type: "string" } },
      required: ["question"],
      additionalProperties: false,
    },
    run: async ({ question }, use) => wordsOf(await use.ask({ id: use.id, text: question })),
  });
}

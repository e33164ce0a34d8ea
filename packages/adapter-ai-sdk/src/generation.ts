import type { ModelMessage as SdkMessage, TextStreamPart, ToolSet } from "ai";
import { endOfRun, modelFailure } from "@waybill/agent/adapter";
import type { Run } from "@waybill/agent/adapter";
import { artifactsIn } from "@waybill/agent/model-messages";
import type { ModelMessage } from "@waybill/agent/model-messages";
import { WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import { isRemoteOutput } from "./remote-output.ts";
import { usageOf } from "./usage.ts";
import type { Step } from "./usage.ts";

/** For `generateText`, `streamText` or an agent: spread it into their options. */
export interface GenerationOptions {
  readonly messages: SdkMessage[];
  readonly abortSignal: AbortSignal;
  /** Counts the tokens of each step, so that a failed run reports them too. */
  readonly onStepEnd: (step: Step) => void;
}

/** A result of `generateText`, as far as it is read. */
interface Generated {
  readonly output: unknown;
  readonly text: string;
  readonly content: readonly object[];
  readonly steps: readonly Step[];
  readonly responseMessages: readonly unknown[];
}

/** A result of `streamText`, as far as it is read. */
interface Streamed {
  readonly output: PromiseLike<unknown>;
  readonly responseMessages: PromiseLike<readonly unknown[]>;
  readonly stream: AsyncIterable<TextStreamPart<ToolSet>>;
}

/** A result of `generateText` or `streamText`, also of an agent. */
export type Generation = Generated | Streamed;

/** What a generation has added to the conversation. */
export interface Added {
  readonly messages: readonly ModelMessage[];
  readonly artifacts: readonly Artifact[];
  /** The output in the form that the application has specified, text by default. */
  output(): Promise<unknown>;
}

/** Runs a generation until it ends, by itself or because it waits for an answer. */
export async function generated(
  run: Run,
  messages: readonly ModelMessage[],
  start: (options: GenerationOptions) => PromiseLike<Generation> | Generation,
): Promise<Added> {
  const stop = new AbortController();
  let [counted, ended] = [0, 0];
  const count = (step: Step, index: number): void => {
    if (index < counted) return;
    counted = index + 1;
    run.addUsage(usageOf(step));
  };
  try {
    const generation = await start({
      messages: [...messages] as SdkMessage[],
      abortSignal: AbortSignal.any([run.signal, stop.signal]),
      onStepEnd: (step) => count(step, ended++),
    });
    const added = "stream" in generation ? await taken(generation, run, count) : read(generation);
    if (!("stream" in generation)) generation.steps.forEach(count);
    run.signal.throwIfAborted();
    return added;
  } catch (thrown) {
    // A generation goes on when nobody reads it, so it is aborted.
    stop.abort(thrown);
    run.signal.throwIfAborted();
    throw modelFailure(thrown);
  }
}

/** Reads a stream to its end. */
async function taken(
  generation: Streamed,
  run: Run,
  count: (step: Step, index: number) => void,
): Promise<Added> {
  const artifacts: Artifact[] = [];
  let steps = 0;
  for await (const part of generation.stream) {
    if (part.type === "text-delta") run.delta(part.text);
    else if (part.type === "file") artifacts.push(...artifactsIn(part.file));
    else if (part.type === "tool-result") artifacts.push(...takenFrom(part, run));
    else if (part.type === "tool-error") endOfRun(part.error);
    else if (part.type === "finish-step") count(part, steps++);
    else if (part.type === "error") throw part.error;
    else if (part.type === "abort") throw aborted(part.reason);
  }
  const messages = (await generation.responseMessages) as readonly ModelMessage[];
  return { messages, artifacts, output: async () => generation.output };
}

/** What a tool gives while it works is progress; its result may have files. */
function takenFrom(
  { output, preliminary = false }: { output?: unknown; preliminary?: boolean },
  run: Run,
): Artifact[] {
  if (!preliminary) return artifactsIn(output);
  // A remote agent reports to this run by itself, and a local sub-agent gives all it has said again
  // and again.
  if (!isRemoteOutput(output) && !isConversation(output)) run.progress(output);
  return [];
}

function isConversation(output: unknown): boolean {
  return Array.isArray((output as { parts?: unknown } | null)?.parts);
}

/** The same for a generation without a stream. */
function read(generation: Generated): Added {
  const artifacts = generation.content.flatMap((part) => {
    const { type, file, output, error } = part as Readonly<Record<string, unknown>>;
    if (type === "tool-error") endOfRun(error);
    return artifactsIn(type === "file" ? file : type === "tool-result" ? output : undefined);
  });
  const messages = generation.responseMessages as readonly ModelMessage[];
  // Without an output it throws.
  return { messages, artifacts, output: async () => generation.output };
}

function aborted(reason: string | undefined): WaybillError {
  return new WaybillError(499, `The generation was aborted${reason ? `: ${reason}` : "."}`);
}

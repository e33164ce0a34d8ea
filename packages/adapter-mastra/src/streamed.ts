import type { CountedUsage, Run } from "@waybill/agent/adapter";
import { artifactsIn } from "@waybill/agent/model-messages";
import type { Artifact } from "@waybill/protocol";

/** A chunk of a stream of Mastra. */
export interface Chunk {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** For chunks of an application or a sub-agent, in place of a payload. */
  readonly data?: unknown;
}

/** Text, in the form in which an agent of Mastra streams it. */
export function wordsChunk(runId: string, text: string): Chunk & { from: string; runId: string } {
  return { type: "text-delta", from: "AGENT", runId, payload: { id: "result", text } };
}

/**
 * Takes what a tool has written. A sub-agent and a workflow write their whole stream there: its
 * text is shown, its tokens are counted, and its files are returned. The rest, with requests to
 * models and results of tools, stays inside.
 */
export function takeOutput({ output, toolName }: Chunk["payload"], run: Taking): Artifact[] {
  if (!isChunk(output)) {
    if (!isDelegation(toolName)) run.progress(output);
    return [];
  }
  const { type, payload } = output;
  if (type === "tool-output" || type === "workflow-step-output") return takeOutput(payload, run);
  if (type === "file") return artifactsIn(payload);
  if (type === "text-delta") run.delta(payload.text as string);
  else if (type === "step-finish") run.addUsage(usageOf(payload));
  return [];
}

type Taking = Pick<Run, "progress" | "delta" | "addUsage">;

/** The usage of one step of an agent. */
export function usageOf({ output, metadata }: Chunk["payload"]): CountedUsage {
  const { usage } = (output ?? {}) as { usage?: Partial<Record<string, unknown>> };
  const { modelId } = (metadata ?? {}) as { modelId?: unknown };
  return {
    model: modelId,
    requests: 1,
    input_tokens: usage?.["inputTokens"],
    cached_input_tokens: usage?.["cachedInputTokens"],
    output_tokens: usage?.["outputTokens"],
    reasoning_tokens: usage?.["reasoningTokens"],
  };
}

const SOURCES: ReadonlySet<unknown> = new Set(["AGENT", "USER", "SYSTEM", "WORKFLOW", "NETWORK"]);

function isChunk(value: unknown): value is Chunk {
  if (typeof value !== "object" || value === null) return false;
  const { from, type, payload } = value as Partial<Record<string, unknown>>;
  return (
    SOURCES.has(from) && typeof type === "string" && typeof payload === "object" && payload !== null
  );
}

/**
 * Mastra's own tools for sub-agents and workflows. Their chunks in the stream of an older model
 * have no source.
 */
function isDelegation(toolName: unknown): boolean {
  return typeof toolName === "string" && /^(agent|workflow)-/.test(toolName);
}

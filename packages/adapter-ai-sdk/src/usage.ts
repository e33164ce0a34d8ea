import type { CountedUsage } from "@waybill/agent/adapter";
import type { LanguageModelUsage } from "ai";

/** The members of a step that are counted. */
export interface Step {
  readonly usage: LanguageModelUsage;
  readonly response: { readonly modelId: string };
}

/** The usage of one request to a model. */
export function usageOf({ usage, response }: Step): CountedUsage {
  return {
    model: response.modelId,
    requests: 1,
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.inputTokenDetails?.cacheReadTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.outputTokenDetails?.reasoningTokens,
  };
}

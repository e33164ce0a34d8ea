import { Usage } from "@openai/agents";
import type { HandoffUsage } from "@waybill/agent";
import type { CountedUsage } from "@waybill/agent/adapter";

/** The usage of a remote agent, as the SDK counts it. */
export function sdkUsage(usage: HandoffUsage | undefined): Usage {
  if (usage === undefined) return new Usage();
  const { requests, input_tokens: inputTokens, output_tokens: outputTokens } = usage.total;
  const { cached_input_tokens: cached_tokens, reasoning_tokens } = usage.total;
  return new Usage({
    requests,
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    inputTokensDetails: [{ cached_tokens }],
    outputTokensDetails: [{ reasoning_tokens }],
  });
}

/** Counts of a usage, copied because the SDK goes on adding to it. */
export type Counts = Record<Exclude<keyof CountedUsage, "model">, number>;

export function countsOf(usage: Usage): Counts {
  const { requests, inputTokens, outputTokens, inputTokensDetails, outputTokensDetails } = usage;
  const sum = (details: readonly Record<string, number>[], name: string) =>
    details.reduce((all, each) => all + (each[name] ?? 0), 0);
  return {
    requests,
    input_tokens: inputTokens,
    cached_input_tokens: sum(inputTokensDetails, "cached_tokens"),
    output_tokens: outputTokens,
    reasoning_tokens: sum(outputTokensDetails, "reasoning_tokens"),
  };
}

/** What was counted after `before`. */
export function countsSince(before: Counts, now: Usage): Counts {
  return less(countsOf(now), before);
}

/** The usage of a run without that of remote agents, which the agent adds itself. */
export function less(all: Counts, part: Counts): Counts {
  const names = Object.keys(all) as (keyof Counts)[];
  return Object.fromEntries(
    names.map((name) => [name, Math.max(0, all[name] - part[name])]),
  ) as Counts;
}

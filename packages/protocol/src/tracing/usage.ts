import type { UsageRow } from "../usage/usage.ts";
import { sumUsage } from "../usage/usage.ts";
import { GEN_AI, SYSTEM } from "./attributes.ts";

/** The histogram of tokens, independent of any metrics library. */
export const TOKEN_USAGE = {
  name: "gen_ai.client.token.usage",
  unit: "{token}",
  description: "Number of input and output tokens used.",
  boundaries: [
    1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
    67_108_864,
  ],
} as const;

/** One value of a histogram. */
export interface TokenPoint {
  readonly tokens: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The attempt's own usage, for its `invoke_agent` span; empty if unknown. */
export function usageAttributes(rows: readonly UsageRow[]): Record<string, string | number> {
  if (rows.length === 0) return {};
  const { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens } = sumUsage(rows);
  const [model, ...others] = new Set(rows.map((row) => row.model));
  return {
    [GEN_AI.inputTokens]: input_tokens,
    [GEN_AI.outputTokens]: output_tokens,
    ...(cached_input_tokens === 0 ? {} : { [GEN_AI.cachedTokens]: cached_input_tokens }),
    ...(reasoning_tokens === 0 ? {} : { [GEN_AI.reasoningTokens]: reasoning_tokens }),
    ...(model === undefined || others.length > 0 ? {} : { [GEN_AI.model]: model }),
  };
}

/** The values that one attempt adds to the histogram: for each model its input and its output. */
export function tokenPoints(rows: readonly UsageRow[]): TokenPoint[] {
  return rows.flatMap(({ model, input_tokens: input, output_tokens: output }) => {
    const about = {
      [GEN_AI.operationName]: "invoke_agent",
      [GEN_AI.provider]: SYSTEM,
      ...(model === undefined ? {} : { [GEN_AI.model]: model }),
    };
    const point = (type: string, tokens: number | undefined): TokenPoint[] =>
      tokens === undefined ? [] : [{ tokens, attributes: { ...about, [GEN_AI.tokenType]: type } }];
    return [...point("input", input), ...point("output", output)];
  });
}

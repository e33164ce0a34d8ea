import { metrics } from "@opentelemetry/api";
import type { UsageRow } from "@waybill/protocol";
import { CONVENTIONS, TOKEN_USAGE, tokenPoints } from "@waybill/protocol/tracing";

/**
 * Records an attempt's own usage in the application's metrics, if it has any. The instrument is looked
 * up each time: a provider may be registered late, and returns the same one again.
 */
export function recordTokens(rows: readonly UsageRow[]): void {
  const points = tokenPoints(rows);
  if (points.length === 0) return;
  const { name, unit, description, boundaries } = TOKEN_USAGE;
  const { schemaUrl } = CONVENTIONS;
  const histogram = metrics
    .getMeter("@waybill/agent", undefined, { schemaUrl })
    .createHistogram(name, {
      unit,
      description,
      advice: { explicitBucketBoundaries: [...boundaries] },
    });
  for (const { tokens, attributes } of points) histogram.record(tokens, attributes);
}

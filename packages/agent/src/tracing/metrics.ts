import { metrics } from "@opentelemetry/api";
import type { UsageRow } from "@waybill/protocol";
import { CONVENTIONS, TOKEN_USAGE, tokenPoints } from "@waybill/protocol/tracing";

/**
 * Adds what an attempt has used itself to the application's metrics, if it has any. The instrument is
 * asked for each time: a provider may be registered late, and it gives the same one again.
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

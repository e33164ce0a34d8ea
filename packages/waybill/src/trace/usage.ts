import type { LedgerEntry } from "@waybill/hub";
import { mergeUsage, parseEnvelope, readCompact, sumUsage } from "@waybill/protocol";
import { breaches } from "@waybill/protocol/audit";
import type { Contract, Usage, UsageRow } from "@waybill/protocol";
import type { Breach } from "@waybill/protocol/audit";
import type { Style } from "../terminal/style.ts";
import { counted, printable } from "../terminal/text.ts";
import { hanging } from "../terminal/wrap.ts";
import type { RecordContext } from "./events.ts";
import type { TraceHandoff } from "./trace.ts";

/** The usage that one attempt reported. */
interface ReportedUsage {
  readonly recipient: string;
  readonly usage: Usage;
}

/** The usage that the recipients of a handoff reported, by attempt; each attempt ends once. */
export function reportedUsage(
  entries: readonly LedgerEntry[],
  { signatureOf }: RecordContext,
): Map<number, ReportedUsage> {
  const reported = new Map<number, ReportedUsage>();
  for (const { type, content, at } of entries) {
    if (type !== "envelope") continue;
    const envelope = parseEnvelope(readCompact(content).payload);
    if (envelope.kind !== "result" && envelope.kind !== "question") continue;
    const { attempt, from: recipient, body } = envelope;
    if (body.usage === undefined || reported.has(attempt)) continue;
    if (signatureOf(content, at).holds) reported.set(attempt, { recipient, usage: body.usage });
  }
  return reported;
}

/** The attempts' own usage. The usage of children is listed under the children. */
export function ownUsage(reported: ReadonlyMap<number, ReportedUsage>): UsageRow[] {
  return mergeUsage([...reported.values()].flatMap(({ usage }) => usage.own ?? []));
}

/** Which caps of the contract were exceeded. */
export function overuse(
  delegator: string,
  { max_tokens, max_cost }: Contract = {},
  reported: ReadonlyMap<number, ReportedUsage>,
): Breach[] {
  const unbound = {
    timeout_seconds: Infinity,
    lease_seconds: Infinity,
    max_attempts: Infinity,
    output_schema: true,
  };
  const attempts = Array.from(reported, ([attempt, { recipient, usage }]) => {
    return { attempt, recipient, acceptedAt: 0, endedAt: 0, usage };
  });
  return breaches({ ...unbound, max_tokens, max_cost }, { delegator, attempts });
}

/** A handoff's own usage, and by how much it exceeded the caps. */
export function usageLines(
  { usage, breaches: broken }: Pick<TraceHandoff, "usage" | "breaches">,
  width: number,
  style: Style,
): string[] {
  return [
    ...(usage.length === 0 ? [] : hanging(`used ${usageText(usage)}`, width, 2).split("\n")),
    ...broken.flatMap(({ by, attempt, reason }) => {
      const says = `${by} broke the contract in attempt ${attempt}: ${printable(reason)}`;
      const [first = "", ...rest] = hanging(says, width - 2, 0).split("\n");
      return [`${style.warning("!")} ${first}`, ...rest.map((line) => `  ${line}`)];
    }),
  ];
}

/** `1,280 tokens: 1,200 in (1,000 cached), 80 out · 1 request · 0.0042 USD` */
export function usageText(rows: readonly UsageRow[]): string {
  const { requests, costs, ...tokens } = sumUsage(rows);
  const { input_tokens: input, output_tokens: output } = tokens;
  const cached = partText(tokens.cached_input_tokens, "cached");
  const reasoning = partText(tokens.reasoning_tokens, "reasoning");
  const all = input + output;
  return [
    ...(all === 0 && (requests > 0 || costs.length > 0)
      ? []
      : [
          `${numberText(all)} ${all === 1 ? "token" : "tokens"}: ${numberText(input)} in${cached}, ${numberText(output)} out${reasoning}`,
        ]),
    ...(requests === 0 ? [] : [counted(requests, "request")]),
    ...costs.map(({ amount, currency }) => `${amount} ${currency}`),
  ].join(" · ");
}

function partText(tokens: number, what: string): string {
  return tokens === 0 ? "" : ` (${numberText(tokens)} ${what})`;
}

function numberText(number: number): string {
  return number.toLocaleString("en-US");
}

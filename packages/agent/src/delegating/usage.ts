import { sumUsage, usageRows } from "@waybill/protocol";
import type { Usage, UsageRow, UsageTotal } from "@waybill/protocol";

/** What a handoff has used, as its recipient reports it. */
export interface HandoffUsage {
  /** The sum of own, earlier and children. */
  readonly total: UsageTotal;
  /** The same with one row for each model and currency. */
  readonly rows: readonly UsageRow[];
  /** By the last attempt itself. */
  readonly own: readonly UsageRow[];
  /** By earlier attempts that have paused. */
  readonly earlier: readonly UsageRow[];
  /** By the handoffs that the recipient has made for this one, each counted once. */
  readonly children: readonly UsageRow[];
  /** The ids of the handoffs whose usage is in `children`. */
  readonly handoffs: readonly string[];
}

/** The usage in the body of a result. */
export function handoffUsage(usage: Usage | undefined): HandoffUsage | undefined {
  if (usage === undefined) return undefined;
  const { own = [], earlier = [], children = [], handoffs = [] } = usage;
  const rows = usageRows(usage);
  return { total: sumUsage(rows), rows, own, earlier, children, handoffs };
}

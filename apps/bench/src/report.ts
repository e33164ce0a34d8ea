import type { CaseResult } from "./measure.ts";
import type { RatioResult } from "./ratio.ts";

export interface Report {
  readonly group: string;
  readonly node: string;
  readonly cpus: number;
  readonly rounds: number;
  readonly cases: readonly CaseResult[];
  readonly ratios: readonly RatioResult[];
}

/** The report as data; `ratios` is a plain map, so that a script can read one with a dot. */
export function toJson({ cases, ratios, ...rest }: Report): Record<string, unknown> {
  return {
    ...rest,
    cases: cases.map(({ name, perSecond, p50Ms, p99Ms, spreadPercent }) => ({
      name,
      perSecond,
      p50Ms,
      p99Ms,
      spreadPercent,
    })),
    ratios: Object.fromEntries(ratios.map(({ name, value }) => [name, value])),
    bounds: Object.fromEntries(
      ratios.map(({ name, wanted, isMet, spreadPercent }) => [
        name,
        wanted === undefined ? { spreadPercent } : { wanted, isMet, spreadPercent },
      ]),
    ),
  };
}

export function toTable({ group, node, cpus, rounds, cases, ratios }: Report): string {
  const measured = cases.map((each) => [
    each.name,
    count(each.perSecond),
    duration(each.p50Ms),
    duration(each.p99Ms),
    percent(each.spreadPercent),
  ]);
  const compared = ratios.map((each) => [
    each.name,
    each.value.toFixed(2),
    percent(each.spreadPercent),
    each.wanted === undefined ? "" : `${each.wanted} ${each.isMet === true ? "✓" : "✗"}`,
    each.meaning,
  ]);
  return [
    `${group}: medians of ${rounds} interleaved rounds, Node ${node}, ${cpus} processors`,
    "",
    ...columns([["case", "per second", "p50", "p99", "spread"], ...measured], "<>>>>"),
    "",
    ...columns([["ratio", "value", "spread", "wanted", "meaning"], ...compared], "<>>><"),
  ].join("\n");
}

/** Rows with their cells padded to the width of their column, to the left or the right. */
function columns(rows: readonly (readonly string[])[], alignment: string): string[] {
  const widths = [...alignment].map((_, column) =>
    Math.max(...rows.map((row) => row[column]!.length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        alignment[column] === "<" ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join("  ")
      .trimEnd(),
  );
}

function count(perSecond: number): string {
  return perSecond.toLocaleString("en-US", { maximumFractionDigits: perSecond < 100 ? 1 : 0 });
}

function duration(ms: number): string {
  if (ms < 0.001) return `${significant(ms * 1e6)} ns`;
  if (ms < 1) return `${significant(ms * 1e3)} µs`;
  return ms < 1000 ? `${significant(ms)} ms` : `${significant(ms / 1000)} s`;
}

function significant(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0);
}

function percent(value: number): string {
  return `±${value.toFixed(1)} %`;
}

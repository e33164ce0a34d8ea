import { honestBound, isLatency, told } from "./run/judge.ts";
import type { Row } from "./run/trial.ts";

/** The last line of `--json`, for programs. */
export interface Summary {
  readonly classes: readonly string[];
  readonly failed: readonly string[];
  readonly worst_honest_p99_ms: number;
  readonly peak_rss_mb: number;
  readonly crashes: number;
}

export function summaryOf(rows: readonly Row[]): Summary {
  const most = (of: (row: Row) => number): number => Math.round(Math.max(0, ...rows.map(of)));
  return {
    classes: rows.map(({ attackClass }) => attackClass.name),
    failed: rows.filter(isFailed).map(({ attackClass }) => attackClass.name),
    worst_honest_p99_ms: most(({ attackClass, facts }) =>
      attackClass.hub?.diskBytes === undefined ? facts.attacked.p99 : 0,
    ),
    peak_rss_mb: most(({ facts }) => Math.max(facts.peakMb, facts.restartedMb)),
    crashes: rows.reduce((sum, { facts }) => sum + facts.crashes, 0),
  };
}

export function isFailed({ problems }: Row): boolean {
  return problems.length > 0;
}

/** Whether more than latency was wrong. */
export function isUnsafe({ problems }: Row): boolean {
  return !problems.every(isLatency);
}

/** The printed lines of a row. */
export function linesOf(row: Row): string[] {
  const { attackClass, facts, problems, isSecond } = row;
  const { attacked, loopDelay, newcomer, peakMb, restart, restartedMb, tally, reasons } = facts;
  const verdict = isFailed(row) ? "FAILED" : isSecond ? "passed at the second try" : "passed";
  const figures = [
    `honest p50 ${ms(attacked.p50)}, p99 ${ms(attacked.p99)} of ${attacked.made}`,
    `newcomer ${ms(newcomer)}`,
    `loop ${ms(loopDelay)}`,
    `${Math.round(peakMb)} MB`,
    `again after ${ms(restart)} with ${Math.round(restartedMb)} MB`,
  ];
  return [
    `${verdict}: ${attackClass.name}: ${figures.join("; ")}`,
    `  met ${told(tally)}`,
    ...problems.map(({ says }) => `  ${says}`),
    ...(problems.length === 0 ? [] : Object.entries(reasons)).map(
      ([status, reason]) => `  ${status} was: ${reason.slice(0, REASON_CHARACTERS)}`,
    ),
  ];
}

const REASON_CHARACTERS = 200;

const HEADS = ["class", "what it does", "honest p99", "loop", "peak", "back after", "peak then"];
const [P99, PEAK, PEAK_THEN] = [2, 4, 6] as const;

/** One line of the README's table. */
export type Cells = readonly string[];

export function cellsOf(row: Row): Cells {
  const { attackClass, facts } = row;
  return [
    `\`${attackClass.name}\``,
    attackClass.does + noteOf(row),
    ms(facts.attacked.p99),
    ms(facts.loopDelay),
    `${Math.round(facts.peakMb)} MB`,
    ms(facts.restart),
    `${Math.round(facts.restartedMb)} MB`,
  ];
}

/** Reads the lines of a table that `tableOf` has written. */
export function readTable(text: string): Cells[] {
  const lines = text.split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The README's table. */
export function tableOf(cells: readonly Cells[]): string {
  const widths = HEADS.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]!.length)),
  );
  const line = (row: Cells): string =>
    `| ${row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(HEADS), line(rule), ...cells.map(line)].join("\n");
}

const FAILED = "**(failed)**";

function noteOf(row: Row): string {
  if (isFailed(row)) return ` ${FAILED}`;
  return row.isSecond ? " (second try)" : "";
}

/** The bound that applied to the honest p99. */
export function boundLine(quietP99: number): string {
  return `Without an attack the honest p99 was ${ms(quietP99)}, so the bound was ${ms(honestBound(quietP99))}.`;
}

/**
 * The figures in SECURITY.md, from the runs in the table. A crash fails its class. `full` are the
 * classes that fill the disk: their handoffs wait until there is space again.
 */
export function figuresOf(cells: readonly Cells[], full: readonly string[] = []): string {
  const failed = cells.filter((row) => row[1]!.endsWith(FAILED)).map(([name]) => name);
  const held = cells.length - failed.length;
  const most = (rows: readonly Cells[], ...columns: number[]): number =>
    Math.max(0, ...rows.flatMap((row) => columns.map((column) => parseInt(row[column]!, 10))));
  const inTime = cells.filter(([name]) => !full.includes(name!.slice(1, -1)));
  return [
    `- ${held} of ${cells.length} classes of attack held to their bounds${failed.length === 0 ? "." : `; not ${failed.join(", ")}.`}`,
    `- Worst p99 of honest handoffs during an attack: ${most(inTime, P99)} ms, apart from those that wait for space on a full disk.`,
    `- Most memory that a hub's process had: ${most(cells, PEAK, PEAK_THEN)} MB.`,
  ].join("\n");
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

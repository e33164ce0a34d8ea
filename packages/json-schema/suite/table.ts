import type { FileVerdicts } from "./judge.ts";

const PLACE = /(<!-- official suite -->\n)[\s\S]*?(<!-- \/official suite -->)/;

/** The verdicts on all files as a table in Markdown. */
export function tableOf(files: readonly FileVerdicts[]): string {
  const rows = files.map(({ name, right, refused, wrong }) => ({
    name: `\`${name}\``,
    counts: [right, sum([...refused.values()]), wrong.length],
    reasons: [...refused].map(([reason, count]) => `${reason} (${count})`).join(", "),
  }));
  const totals = [0, 1, 2].map((column) => sum(rows.map(({ counts }) => counts[column]!)));
  const lines = [
    ["File", "Cases", "Right", "Refused", "Wrong", "Why refused"],
    ["-", "-:", "-:", "-:", "-:", "-"],
    ...[...rows, { name: "**All**", counts: totals, reasons: "" }].map(
      ({ name, counts, reasons }) => [name, sum(counts), ...counts, reasons],
    ),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The text of a page with this table in its place. */
export function withTable(page: string, table: string): string {
  return page.replace(PLACE, (_, start, end) => `${start}\n${table}\n\n${end}`);
}

/** Whether a page has this table, apart from how its columns are aligned. */
export function hasTable(page: string, table: string): boolean {
  return unaligned(page) === unaligned(withTable(page, table));
}

function unaligned(page: string): string {
  return page.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

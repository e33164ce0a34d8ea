import { padded, widthOf } from "./text.ts";
import { beside, hanging } from "./wrap.ts";

const LAST_MIN = 24;

/**
 * Rows below a header, in columns as wide as their widest cell. The last column is wrapped. If that
 * is not enough, each row becomes a block with one line for each cell.
 */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  faint: (text: string) => string,
  width: number = Infinity,
): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  if (before + Math.min(LAST_MIN, widths.at(-1)!) > width) return blocks(head, rows, faint, width);
  const line = (cells: readonly string[]) => {
    const text = cells
      .map((cell, column) => (column < cells.length - 1 ? padded(cell, widths[column]!) : cell))
      .join("  ")
      .trimEnd();
    return widthOf(text) > width ? hanging(text, width, before) : text;
  };
  return [faint(line(head)), ...rows.map(line)].join("\n");
}

function blocks(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  faint: (text: string) => string,
  width: number,
): string {
  const names = head.slice(1).map((name) => `  ${name.toLowerCase()}`);
  const nameWidth = Math.max(...names.map(widthOf));
  return rows
    .map(([title = "", ...cells]) =>
      [
        title,
        ...cells.map((cell, index) =>
          beside(faint(names[index]!), nameWidth, cell.trim(), width).trimEnd(),
        ),
      ].join("\n"),
    )
    .join("\n\n");
}

/** Names and values, one pair a line. */
export function pairs(
  rows: readonly (readonly [string, string])[],
  faint: (text: string) => string,
): string {
  const width = Math.max(...rows.map(([name]) => widthOf(name)));
  return rows.map(([name, value]) => `${faint(padded(name, width))}  ${value}`).join("\n");
}

import { padded, shortened, widthOf } from "./text.ts";

const LAST_MIN = 20;

/** Rows under a head, in columns as wide as their widest cell; the last one, of plain text, gives way. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  faint: (text: string) => string,
  width: number = Infinity,
): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0);
  const room = Math.max(LAST_MIN, width - before);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        if (column < cells.length - 1) return padded(cell, widths[column]!);
        return widthOf(cell) > room ? shortened(cell, room) : cell;
      })
      .join("  ")
      .trimEnd();
  return [faint(line(head)), ...rows.map(line)].join("\n");
}

/** Names and values below each other. */
export function pairs(
  rows: readonly (readonly [string, string])[],
  faint: (text: string) => string,
): string {
  const width = Math.max(...rows.map(([name]) => widthOf(name)));
  return rows.map(([name, value]) => `${faint(padded(name, width))}  ${value}`).join("\n");
}

/** A table whose columns are padded, as the formatter leaves it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) =>
    Math.max(3, ...all.map((row) => [...row[column]!].length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell + " ".repeat(widths[column]! - [...cell].length)).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  return [line(all[0]!), line(rule), ...all.slice(1).map(line)].join("\n");
}

export function page(...blocks: readonly string[]): string {
  return `${blocks.join("\n\n")}\n`;
}

const TABLE = /(<!-- conformance -->\n)[\s\S]*?(<!-- \/conformance -->)/;

/** Fills in the adapters' results between the marks of a text: how many cases each passes, and its gaps. */
export function withConformance(text, reports) {
  const rows = reports.map(({ adapter, cases, passed, failed, gaps }) =>
    [adapter, cases.length, passed, failed, gaps.length].map(String),
  );
  const table = aligned([["Adapter", "Cases", "Passed", "Failed", "Gaps"], ...rows]);
  const reasons = reports.flatMap(({ adapter, gaps }) =>
    gaps.map(({ case: name, reason }) => `- **${adapter}**, ${name}: ${reason}`),
  );
  const gaps =
    reasons.length === 0
      ? []
      : ["<details>", "<summary>The gaps, and why</summary>", "", ...reasons, "", "</details>", ""];
  return text.replace(TABLE, (_, start, end) => [start, ...table, "", ...gaps, end].join("\n"));
}

/** In the formatter's layout. */
function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length), 3));
  const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
  return [
    line(rows[0]),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.slice(1).map(line),
  ];
}

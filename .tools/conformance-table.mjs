const TABLE = /(<!-- conformance -->\n)[\s\S]*?(<!-- \/conformance -->)/;

/** The text with what the adapters do between its marks: how many cases of the suite, and what not. */
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

/** As the formatter has it. */
function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length), 3));
  const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
  return [
    line(rows[0]),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.slice(1).map(line),
  ];
}

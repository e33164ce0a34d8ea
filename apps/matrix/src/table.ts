/** The outcome of one case between two frameworks. */
export interface Verdict {
  readonly calling: string;
  readonly served: string;
  readonly case: string;
  readonly verdict: "passed" | "failed" | "gap";
  /** The reason of a gap. */
  readonly says?: string | undefined;
}

/** The matrix as Markdown: served frameworks in rows, calling ones in columns, and the reasons for gaps. */
export function matrixAsMarkdown(names: readonly string[], verdicts: readonly Verdict[]): string {
  const cases = [...new Set(verdicts.map((each) => each.case))];
  const gaps = [...new Set(verdicts.flatMap(({ says }) => says ?? []))];
  const cell = (served: string, calling: string): string => {
    const pair = verdicts.filter((each) => each.served === served && each.calling === calling);
    const passed = pair.filter(({ verdict }) => verdict === "passed").length;
    const notes = gaps.flatMap((gap, index) =>
      pair.some(({ says }) => says === gap) ? [`${index + 1}`] : [],
    );
    const count = `${passed}/${pair.length}`;
    return notes.length === 0 ? count : `${count} (${notes.join(", ")})`;
  };
  return [
    table([
      ["served \\ calling", ...names],
      ...names.map((served) => [`**${served}**`, ...names.map((calling) => cell(served, calling))]),
    ]),
    `The cases: ${cases.join(" · ")}.`,
    ...(gaps.length === 0 ? [] : [`What is missing, and why:`]),
    ...(gaps.length === 0
      ? []
      : [gaps.map((gap, index) => `${index + 1}. ${casesOf(gap, verdicts)}: ${gap}`).join("\n")]),
  ].join("\n\n");
}

function casesOf(gap: string, verdicts: readonly Verdict[]): string {
  const concerned = verdicts.filter(({ says }) => says === gap);
  return [...new Set(concerned.map((each) => each.case))].join(" · ");
}

/** With columns as wide as their widest cell, like a formatter's output. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[], fill: string) =>
    `| ${cells.map((each, column) => each.padEnd(widths[column]!, fill)).join(" | ")} |`;
  const [head = [], ...body] = rows;
  return [
    line(head, " "),
    line(
      head.map(() => ""),
      "-",
    ),
    ...body.map((row) => line(row, " ")),
  ].join("\n");
}

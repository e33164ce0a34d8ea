import type { AdapterFixture } from "./fixture.ts";
import { adapterSuite } from "./suite.ts";

/** The suite's report on an adapter. */
export interface AdapterReport {
  readonly adapter: string;
  readonly passed: number;
  readonly failed: number;
  readonly gaps: readonly { readonly case: string; readonly reason: string }[];
  /** Every case in order: with the message if it has failed, and the reason if it is a gap. */
  readonly cases: readonly CaseReport[];
}

/** The suite's result for one case. */
export interface CaseReport {
  readonly name: string;
  readonly verdict: "passed" | "failed" | "gap";
  readonly says?: string;
}

/** Runs the suite without a test runner, one case after the other. */
export async function reportAdapter(
  fixture: AdapterFixture,
  hear: (each: CaseReport) => void = () => undefined,
): Promise<AdapterReport> {
  const cases: CaseReport[] = [];
  for (const { name, run } of adapterSuite(fixture)) {
    const each = await run().then(
      (gap): CaseReport =>
        gap === undefined ? { name, verdict: "passed" } : { name, verdict: "gap", says: gap },
      (error: unknown): CaseReport => ({ name, verdict: "failed", says: messageOf(error) }),
    );
    cases.push(each);
    hear(each);
  }
  const of = (verdict: CaseReport["verdict"]) => cases.filter((each) => each.verdict === verdict);
  return {
    adapter: fixture.adapter,
    passed: of("passed").length,
    failed: of("failed").length,
    gaps: of("gap").map((each) => ({ case: each.name, reason: each.says! })),
    cases,
  };
}

/** A report for people: a line for each case with its result. */
export function reportAsText({ adapter, passed, failed, gaps, cases }: AdapterReport): string {
  const lines = cases.map(({ name, verdict, says }) =>
    says === undefined ? `${MARKS[verdict]} ${name}` : `${MARKS[verdict]} ${name}\n    ${says}`,
  );
  return [...lines, "", `${adapter}: ${passed} passed, ${failed} failed, ${gaps.length} gaps`].join(
    "\n",
  );
}

/** The report for programs. */
export function reportAsJson({ adapter, passed, failed, gaps, cases }: AdapterReport): string {
  const failures = cases.flatMap(({ name, verdict, says = "" }) =>
    verdict === "failed" ? [{ case: name, message: says }] : [],
  );
  return JSON.stringify({ adapter, passed, failed, gaps, failures }, undefined, 2);
}

/** A table of the adapters side by side, for a README. */
export function reportsAsMarkdown(reports: readonly AdapterReport[]): string {
  const names = [...new Set(reports.flatMap(({ cases }) => cases.map(({ name }) => name)))];
  const cell = (report: AdapterReport, name: string) => {
    const found = report.cases.find((each) => each.name === name);
    if (found === undefined) return "";
    return found.verdict === "gap" ? `gap: ${found.says}` : found.verdict;
  };
  const row = (cells: readonly string[]) =>
    `| ${cells.map((each) => each.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [
    row(["Case", ...reports.map(({ adapter }) => adapter)]),
    row(["---", ...reports.map(() => "---")]),
    ...names.map((name) => row([name, ...reports.map((report) => cell(report, name))])),
  ].join("\n");
}

const MARKS = { passed: "ok  ", failed: "FAIL", gap: "gap " } as const;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

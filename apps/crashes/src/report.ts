import { linesOf } from "./judge/summary.ts";
import type { Verdict } from "./trial.ts";

/** A verdict in lines: the run in numbers, what held, and the counterexamples. */
export function reportOf({ summary, properties, failed, path }: Verdict): string[] {
  const lines = linesOf(summary);
  for (const { name, problems } of properties) {
    lines.push(`${problems.length === 0 ? "passed" : "FAILED"}: ${name}`);
    lines.push(...problems.map((problem) => `  ${problem}`));
  }
  if (failed > 0) lines.push(`What the processes left is in ${path}.`);
  return lines;
}

/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEvidence } from "./judge/evidence.ts";
import { judge } from "./judge/properties.ts";
import type { Property } from "./judge/properties.ts";
import { summaryOf } from "./judge/summary.ts";
import type { Summary } from "./judge/summary.ts";
import type { Plan } from "./plan/plan.ts";
import { runPlan } from "./supervise/run.ts";

export interface Verdict {
  readonly summary: Summary;
  readonly properties: readonly Property[];
  readonly failed: number;
  /** The files that the processes left, kept after a failure. */
  readonly path: string;
}

/** Runs a plan in its own folder, and judges what it left there. */
export async function tryPlan(plan: Plan, say: (line: string) => void): Promise<Verdict> {
  const path = mkdtempSync(join(tmpdir(), "crashes-"));
  const remove = () => rmSync(path, { recursive: true, force: true });
  const stop = () => {
    // The processes of the run end when their channel to this one closes.
    remove();
    process.exit(1);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const begun = performance.now();
    const course = await runPlan(path, plan, say);
    const evidence = await readEvidence(path);
    const properties = judge(plan, course, evidence);
    const seconds = (performance.now() - begun) / 1000;
    const failed = properties.filter(({ problems }) => problems.length > 0).length;
    if (failed === 0) remove();
    return {
      summary: summaryOf(plan, course, evidence, properties, seconds),
      properties,
      failed,
      path,
    };
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

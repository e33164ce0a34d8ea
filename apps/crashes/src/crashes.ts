/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "./arguments.ts";
import { readEvidence } from "./judge/evidence.ts";
import { judge } from "./judge/properties.ts";
import { linesOf, summaryOf } from "./judge/summary.ts";
import { planFrom } from "./plan/plan.ts";
import { runPlan } from "./supervise/run.ts";

const { handoffs, kills, seed, isJson } = readArguments(process.argv.slice(2));
const say = (line: string) => void process.stderr.write(`${line}\n`);
say(`--handoffs ${handoffs} --kills ${kills} --seed ${seed}`);

const path = mkdtempSync(join(tmpdir(), "crashes-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // The processes of the run end with the line to this one.
  process.once(signal, () => {
    rmSync(path, { recursive: true, force: true });
    process.exit(1);
  });
}

const begun = performance.now();
const plan = planFrom(seed, handoffs, kills);
const course = await runPlan(path, plan, say);
const evidence = await readEvidence(path);
const properties = judge(plan, course, evidence);
const summary = summaryOf(plan, course, evidence, properties, (performance.now() - begun) / 1000);

if (isJson) process.stdout.write(`${JSON.stringify({ ...summary, properties })}\n`);
else {
  for (const line of linesOf(summary)) process.stdout.write(`${line}\n`);
  for (const { name, problems } of properties) {
    process.stdout.write(`${problems.length === 0 ? "passed" : "FAILED"}: ${name}\n`);
    for (const problem of problems) process.stdout.write(`  ${problem}\n`);
  }
}
const failed = properties.filter(({ problems }) => problems.length > 0).length;
if (failed === 0) rmSync(path, { recursive: true });
else say(`What the processes left is in ${path}; the same plan again: --seed ${seed}`);
process.stdout.write(`${properties.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/// <reference types="node" />
import { randomInt } from "node:crypto";
import { linesOf, runLoad } from "./load/load-run.ts";
import { planFrom, TOPOLOGIES } from "./plan/plan.ts";
import type { Topology } from "./plan/plan.ts";
import { reportOf } from "./report.ts";
import { tryPlan } from "./trial.ts";

const HANDOFFS = 220;
const KILLS = 44;
const LOAD_KILLS = [0, 4];

let passed = 0;
let failed = 0;
for (const topology of Object.keys(TOPOLOGIES) as Topology[]) {
  const seed = randomInt(2 ** 31);
  console.log(`--topology ${topology} --handoffs ${HANDOFFS} --kills ${KILLS} --seed ${seed}`);
  const verdict = await tryPlan(planFrom(seed, HANDOFFS, KILLS, topology), () => undefined);
  for (const line of reportOf(verdict)) console.log(line);
  failed += verdict.failed;
  passed += verdict.properties.length - verdict.failed;
}
for (const kills of LOAD_KILLS) {
  const report = await runLoad({ agents: 100, seconds: 20, kills }, () => undefined);
  for (const line of linesOf(report)) console.log(line);
  const broken = report.properties.filter(({ problems }) => problems.length > 0).length;
  failed += broken;
  passed += report.properties.length - broken;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

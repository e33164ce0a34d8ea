/// <reference types="node" />
import { randomInt } from "node:crypto";
import { planFrom, TOPOLOGIES } from "./plan/plan.ts";
import type { Topology } from "./plan/plan.ts";
import { reportOf } from "./report.ts";
import { tryPlan } from "./trial.ts";

const HANDOFFS = 220;
const KILLS = 44;

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
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

import type { Judge, Violation } from "./judge/verdict.ts";
import { simulateSeed } from "./simulate-seed.ts";
import type { SeedRun } from "./simulate-seed.ts";
import type { PlannedFault, WorldOptions } from "./world/world.ts";

/** One fault, or two: the second one this many calls after the first, in the restarted process. */
type FaultSequence = readonly (Omit<PlannedFault, "call"> & { readonly after: number })[];

/** Every state that a fault can leave behind, and a second fault while that is read or relied on. */
const FAULT_SEQUENCES: readonly FaultSequence[] = [
  [{ after: 0, fault: "crash_before", losesPower: false }],
  [{ after: 0, fault: "crash_before", losesPower: true }],
  [{ after: 0, fault: "crash_amid", losesPower: false }],
  [{ after: 0, fault: "crash_amid", losesPower: true }],
  [{ after: 0, fault: "crash_after", losesPower: false }],
  [{ after: 0, fault: "crash_after", losesPower: true }],
  [{ after: 0, fault: "error", losesPower: true }],
  [{ after: 0, fault: "answer_lost", losesPower: false }],
  ...[1, 2, 3].map((after): FaultSequence => [
    { after: 0, fault: "crash_amid", losesPower: false },
    { after, fault: "crash_before", losesPower: true },
  ]),
];

/**
 * Runs one small calm world once for each call to its disk and each way in which that can fail, up to
 * the first violation.
 */
export async function simulateEachCall(
  seed: number,
  judge: Judge,
  scenario: WorldOptions["scenario"] = {},
): Promise<SeedRun> {
  const calm = await simulateSeed(seed, judge, { faultPlan: [], scenario });
  const violations: Violation[] = [...calm.violations];
  let { handoffs } = calm;
  for (let call = 1; call <= calm.diskCalls && violations.length === 0; call++) {
    for (const way of FAULT_SEQUENCES) {
      const faultPlan = way.map(({ after, ...fault }) => ({ ...fault, call: call + after }));
      const run = await simulateSeed(seed, judge, { faultPlan, scenario });
      handoffs += run.handoffs;
      const where = faultPlan.map(describe).join(", then ");
      for (const each of run.violations) {
        violations.push({ ...each, message: `${each.message} (${where})` });
      }
    }
  }
  return { ...calm, handoffs, violations };
}

function describe({ call, fault, losesPower }: PlannedFault): string {
  return `${fault} at call ${call} of the disk${losesPower ? ", and the power fails" : ""}`;
}

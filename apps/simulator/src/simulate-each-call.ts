import type { Judge, Violation } from "./judge/verdict.ts";
import { simulateSeed } from "./simulate-seed.ts";
import type { SeedRun } from "./simulate-seed.ts";
import type { CrashPlan } from "./world/world.ts";

type Way = Omit<CrashPlan, "calls"> & {
  /** The process that comes up crashes again, at so many calls after the first crash. */
  readonly againAfter?: number;
};

/** All that a crash can leave behind, and crashes in the midst of reading that. */
const WAYS: readonly Way[] = [
  { fault: "crash_before", losesPower: false },
  { fault: "crash_before", losesPower: true },
  { fault: "crash_amid", losesPower: false },
  { fault: "crash_amid", losesPower: true },
  { fault: "crash_after", losesPower: false },
  { fault: "crash_after", losesPower: true },
  { fault: "error", losesPower: true },
  { fault: "crash_amid", losesPower: false, againAfter: 1 },
  { fault: "crash_amid", losesPower: false, againAfter: 2 },
  { fault: "crash_after", losesPower: false, againAfter: 2 },
];

const NEVER: CrashPlan = { calls: [], fault: "crash_before", losesPower: false };

/** Runs one small calm world once for each call to its disk and each way in which that can fail. */
export async function simulateEachCall(seed: number, judge: Judge): Promise<SeedRun> {
  const calm = await simulateSeed(seed, judge, { crashPlan: NEVER });
  const violations: Violation[] = [...calm.violations];
  let { handoffs } = calm;
  for (let call = 1; call <= calm.diskCalls; call++) {
    for (const { againAfter, ...way } of WAYS) {
      const calls = againAfter === undefined ? [call] : [call, call + againAfter];
      const run = await simulateSeed(seed, judge, { crashPlan: { ...way, calls } });
      handoffs += run.handoffs;
      const power = way.losesPower ? ", without power" : "";
      const where = `${way.fault} at call ${calls.join(" and ")} of the disk${power}`;
      for (const each of run.violations) {
        violations.push({ ...each, message: `${each.message} (${where})` });
      }
    }
  }
  return { ...calm, handoffs, violations };
}

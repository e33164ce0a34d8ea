// The long fuzz: `node fuzz/fuzz.ts [inputs] [seed]`. Every input either succeeds or is refused with a
// status that its target allows; nothing else may be thrown, and nothing may hang.
import { WaybillError } from "@waybill/protocol";
import { Random } from "./random.ts";
import { TARGETS } from "./targets.ts";
import type { Target } from "./targets.ts";

// Not a measure of speed: a single input of a few kilobytes that takes longer counts as a hang.
const HANG_MS = 10_000;
const FAILURES_SHOWN = 10;

const inputs = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
const draw = TARGETS.flatMap((target) => Array.from({ length: target.weight }, () => target));
const random = new Random(seed);
const taken = new Map<Target, { ok: number; refused: number; failed: number }>(
  TARGETS.map((target) => [target, { ok: 0, refused: 0, failed: 0 }]),
);
let shown = 0;

console.log(`Fuzzing with ${inputs} inputs, seed ${seed}`);
for (let index = 0; index < inputs; index++) {
  const target = random.pick(draw);
  const text = target.make(random);
  const count = taken.get(target)!;
  const fault = faultOf(target, text);
  if (fault === "refused" || fault === "ok") count[fault]++;
  else {
    count.failed++;
    if (shown++ < FAILURES_SHOWN) {
      console.log(
        `\n${target.name}, input ${index}: ${fault}\n${JSON.stringify(text.slice(0, 2000))}`,
      );
    }
  }
  if (process.stderr.isTTY && index % 10_000 === 0) process.stderr.write(`\r${index} `);
}

for (const [{ name }, { ok, refused, failed }] of taken) {
  console.log(`${name}: ${ok} succeeded, ${refused} were refused, ${failed} failed`);
}
const failed = TARGETS.filter((target) => {
  const { ok, refused, failed: bad } = taken.get(target)!;
  // A target that never succeeds, or never refuses, does not test anything.
  return bad > 0 || ok === 0 || refused === 0;
}).length;
console.log(`${TARGETS.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function faultOf(target: Target, text: string): string {
  const start = performance.now();
  let outcome = "ok";
  try {
    target.read(text);
  } catch (error) {
    if (!WaybillError.is(error))
      outcome = `threw ${error instanceof Error ? error.stack : String(error)}`;
    else if (!target.statuses.includes(error.status))
      outcome = `answered ${error.status}: ${error.message}`;
    else outcome = "refused";
  }
  const took = performance.now() - start;
  return took > HANG_MS ? `took ${Math.round(took)} ms` : outcome;
}

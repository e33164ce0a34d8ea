// Measures what a step of a check costs: `pnpm costs [part of a name]`. One line for the most expensive
// use of each keyword, in processor time, and the range from the fastest to the slowest step.
import { COSTLY_CASES } from "../src/costly-cases-fixture.ts";
import { compileSchema } from "../src/compile-schema.ts";
import { SCHEMA_LIMITS } from "../src/limits.ts";

const ROUNDS = 20;
const STEPS = 1e12;

const wanted = process.argv[2] ?? "";
const lines = COSTLY_CASES.filter(({ name }) => name.includes(wanted)).map((each) => {
  const { name, n, schema, value } = each;
  const compiled = compileSchema(schema(n), { checkSteps: STEPS });
  const budget = { stepsLeft: STEPS };
  let ms = Infinity;
  let fits = true;
  for (let round = 0; round < ROUNDS; round++) {
    // A fresh copy, because engines cache the hash of a string in it.
    const given = JSON.parse(JSON.stringify(value(n))) as unknown;
    budget.stepsLeft = STEPS;
    const start = processorMs();
    fits = compiled.check(given, budget).length === 0;
    ms = Math.min(ms, processorMs() - start);
  }
  const steps = STEPS - budget.stepsLeft;
  return { name, fits, steps, ms, ns: (ms * 1e6) / steps };
});

for (const { name, fits, steps, ms, ns } of lines.toSorted((a, b) => b.ns - a.ns)) {
  const figures = `${ns.toFixed(1).padStart(6)} ns a step ${String(steps).padStart(9)} steps ${ms.toFixed(1).padStart(6)} ms`;
  console.log(`${figures}  ${fits ? "fits " : "fails"}  ${name}`);
}
const all = lines.map(({ ns }) => ns);
const slowest = Math.max(...all);
console.log(
  `slowest ${slowest.toFixed(1)} ns, fastest ${Math.min(...all).toFixed(1)} ns; one check blocks at most ${((SCHEMA_LIMITS.checkSteps * slowest) / 1e6).toFixed(0)} ms`,
);

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

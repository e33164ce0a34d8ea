// Breaks every rule of the specification in a private copy of the protocol, one fault after the
// other, and checks that a test of that rule detects it: `node mutants/run.ts [WB-nn …]`.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { copyPackage, PROTOCOL, runTests } from "./copy.ts";
import type { Mutant } from "./mutant.ts";
import { MUTANTS } from "./mutants.ts";

const COPIES_AT_MOST = 4;

const asked = process.argv.slice(2);
const specification = readFileSync(new URL("../specification.md", import.meta.url), "utf8");
const allRules = Array.from(specification.matchAll(/^\*\*(WB-\d+)\*\*/gm), ([, rule]) => rule!);
const rules = asked.length === 0 ? allRules : asked;
const mutants = MUTANTS.filter(({ rule }) => rules.includes(rule));

let passed = 0;
let failed = 0;
const startedAt = Date.now();

function report(isGood: boolean, line: string): void {
  if (isGood) passed++;
  else failed++;
  console.log(`${isGood ? "       " : "FAILED "}${line}`);
}

function nameOf({ rule, file, why }: Mutant): string {
  return `${rule} ${why} (${file})`;
}

/** The faults of the table, before anything is run. */
function faultsOfTable(): string[] {
  const unknown = [...asked, ...MUTANTS.map(({ rule }) => rule)].filter(
    (rule) => !allRules.includes(rule),
  );
  const unbroken = rules.filter((rule) => !MUTANTS.some((mutant) => mutant.rule === rule));
  const stale = mutants.filter(
    ({ file, find }) => readFileSync(join(PROTOCOL, file), "utf8").split(find).length !== 2,
  );
  return [
    ...unknown.map((rule) => `${rule} is no rule of the specification`),
    ...unbroken.map((rule) => `${rule} has no mutant: nothing shows that its tests can fail`),
    ...stale.map((mutant) => `${nameOf(mutant)}: its text does not occur exactly once any more`),
  ];
}

/** Plants the fault, runs the rule's tests, and restores the source. */
async function judge(mutant: Mutant, folder: string, files: readonly string[]): Promise<void> {
  const { rule, file, find, replace } = mutant;
  const path = join(folder, file);
  const source = readFileSync(path, "utf8");
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  const run = await runTests(folder, files, `${rule} `);
  writeFileSync(path, source);
  const killer = run.failed.find((title) => title.startsWith(`${rule} `));
  if (run.fault !== undefined) report(false, `${nameOf(mutant)}: ${run.fault}`);
  else if (killer === undefined) report(false, `${nameOf(mutant)}: no test noticed`);
  else report(true, nameOf(mutant));
}

async function work(folder: string, queue: Mutant[], filesOf: (rule: string) => string[]) {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    await judge(mutant, folder, filesOf(mutant.rule));
  }
}

async function runAll(scratch: string): Promise<void> {
  const count = Math.min(COPIES_AT_MOST, availableParallelism());
  const copies = Array.from({ length: count }, (_, index) =>
    copyPackage(join(scratch, `${index}`)),
  );
  // A test that fails without a fault would seem to detect every fault.
  const sound = await runTests(copies[0]!);
  for (const title of sound.failed) report(false, `${title}: fails in the sound protocol`);
  if (sound.fault !== undefined) report(false, sound.fault);
  if (failed > 0) return;
  const filesOf = (rule: string): string[] => {
    const titles = sound.passed.filter((title) => title.startsWith(`${rule} `));
    return [...new Set(titles.map((title) => sound.fileOf.get(title)!))];
  };
  const queue = [...mutants];
  await Promise.all(copies.map((folder) => work(folder, queue, filesOf)));
}

for (const fault of faultsOfTable()) report(false, fault);
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "waybill-mutants-")));
try {
  if (failed === 0) await runAll(scratch);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${mutants.length} mutants took ${Math.round((Date.now() - startedAt) / 1000)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

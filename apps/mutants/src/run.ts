/// <reference types="node" />
// Plants faults, one after the other, and runs the tests that must detect each:
// `npm run mutants -- [package …] [--by-hand] [--generated] [--name part] [--sample n] [--minutes n]
// [--seed n] [--at-once n] [--write] [--json]`.
import { readArguments } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { generatedFaults } from "./breadth/sources.ts";
import { SURVIVORS } from "./breadth/survivors.ts";
import { killerOf } from "./breadth/trial.ts";
import { faultsByHand, reasonOf, soundTests } from "./by-hand.ts";
import { inParallel } from "./in-parallel.ts";
import { folderOf } from "./packages.ts";
import { failuresOf, summaryOf } from "./planted.ts";
import type { Planted } from "./planted.ts";
import { writeTable } from "./written.ts";

function chosen<Fault extends { readonly name: string }>(
  faults: readonly Fault[],
  { name, sample }: Arguments,
  share: number,
): readonly Fault[] {
  const named = faults.filter((each) => each.name.includes(name));
  return sample === undefined ? named : sampleOf(named, Math.max(1, Math.round(sample * share)));
}

/** A sample of this size, spread over the tables; it changes daily. */
function sampleOf<Fault>(all: readonly Fault[], size: number): readonly Fault[] {
  const step = Math.max(1, Math.ceil(all.length / size));
  const day = Math.floor(Date.now() / 86_400_000);
  return all.filter((_, index) => index % step === day % step);
}

let given: Arguments;
try {
  given = readArguments(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exit(2);
}
const { packages, kinds, atOnce, minutes, isJson } = given;
const startedAt = performance.now();
const until = startedAt + minutes * 60_000;
/** By when the faults of the tables are planted: the others need time, too. */
const half = startedAt + (minutes / kinds.length) * 60_000;
const say = (line: string): void => void (isJson || console.log(line));

const all: Planted[] = [];
let late = 0;

function note(planted: Planted): void {
  const { package: folder, name, killedBy, reason } = planted;
  all.push(planted);
  say(`${reason === undefined ? "killed  " : "SURVIVED"} ${folder}: ${name}`);
  say(`         ${reason ?? `by ${killedBy}`}`);
}

const share = 1 / kinds.length;
if (kinds.includes("by hand")) {
  const faults = chosen(faultsByHand(packages), given, share);
  const sound = await soundTests(faults, atOnce);
  await inParallel(faults, atOnce, async (fault) => {
    if (performance.now() > half) return void late++;
    const reason = await reasonOf(fault, sound);
    const { package: folder, name, seenBy } = fault;
    const killedBy = reason === undefined ? `${seenBy.file}: ${seenBy.name}` : undefined;
    note({ package: folder, kind: "by hand", name, killedBy, reason });
  });
}
if (kinds.includes("generated")) {
  const faults = chosen(generatedFaults(packages, given.seed), given, share);
  await inParallel(faults, atOnce, async (fault) => {
    if (performance.now() > until) return void late++;
    const { package: folder, name } = fault;
    const killedBy = await killerOf(folderOf(folder), fault);
    const survived = SURVIVORS[folder]?.[name] ?? "no test of its package noticed";
    const reason = killedBy === undefined ? survived : undefined;
    note({ package: folder, kind: "generated", name, killedBy, reason });
  });
}
if (late > 0) say(`${late} were not planted: the time was over.`);
if (given.isWriting) writeTable(all);
const summary = summaryOf(all);
const failures = failuresOf(all, given.sample !== undefined);
say(`${summary.survived.length} of ${summary.planted} survived`);
say(`${summary.killed} passed, ${failures} failed`);
console.log(JSON.stringify(summary));
process.exitCode = failures === 0 && summary.planted > 0 ? 0 : 1;

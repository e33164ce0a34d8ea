/// <reference types="node" />
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inParallel } from "./in-parallel.ts";
import type { Mutant } from "./mutant.ts";
import { folderOf } from "./packages.ts";
import { TABLES } from "./tables.ts";
import { runTests } from "./tests.ts";

export interface ByHand extends Mutant {
  readonly package: string;
}

/** The faults of the tables of these packages. */
export function faultsByHand(packages: readonly string[]): readonly ByHand[] {
  return packages.flatMap((name) => TABLES[name]!.map((each) => ({ ...each, package: name })));
}

/** A test that fails without a fault would seem to detect every fault. */
export async function soundTests(
  mutants: readonly ByHand[],
  atOnce: number,
): Promise<ReadonlySet<string>> {
  const namesByFile = new Map<string, Set<string>>();
  for (const { package: name, seenBy } of mutants) {
    const file = `${name}/${seenBy.file}`;
    namesByFile.set(file, (namesByFile.get(file) ?? new Set()).add(seenBy.name));
  }
  const sound = new Set<string>();
  await inParallel([...namesByFile], atOnce, async ([path, names]) => {
    const [name, file] = [path.slice(0, path.indexOf("/")), path.slice(path.indexOf("/") + 1)];
    const { passed } = await runTests(folderOf(name), file, [...names]);
    for (const each of passed) sound.add(testOf(name, file, each));
  });
  return sound;
}

function testOf(folder: string, file: string, name: string): string {
  return JSON.stringify([folder, file, name]);
}

/** Why the fault was not detected, if it was not. */
export async function reasonOf(
  { package: name, file, find, replace, seenBy }: ByHand,
  sound: ReadonlySet<string>,
): Promise<string | undefined> {
  const folder = folderOf(name);
  const path = join(folder, file);
  const source = readFileSync(path, "utf8");
  if (source.split(find).length !== 2) {
    return `its text does not occur exactly once in ${file} any more`;
  }
  const test = `"${seenBy.name}" in ${seenBy.file}`;
  if (!sound.has(testOf(name, seenBy.file, seenBy.name))) return `${test} fails without it`;
  const fault = { file: path, at: source.indexOf(find), find, replace };
  const { passed, failed, output } = await runTests(folder, seenBy.file, [seenBy.name], fault);
  if (failed.has(seenBy.name)) return undefined;
  return passed.has(seenBy.name) ? `${test} did not notice` : `${test} did not run\n${output}`;
}

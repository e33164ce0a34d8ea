/// <reference types="node" />
// Plants the faults of the tables, one after the other, and runs the test that must detect each:
// `npm run mutants -- [package …] [--name part] [--sample n] [--json]`.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Mutant } from "./mutant.ts";
import { TABLES } from "./tables.ts";
import { runTests } from "./tests.ts";

const PACKAGES = fileURLToPath(new URL("../../../packages/", import.meta.url));
const AT_ONCE = 4;

interface Planted extends Mutant {
  readonly package: string;
}

interface Survivor {
  readonly package: string;
  readonly name: string;
  readonly reason: string;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { name: { type: "string" }, sample: { type: "string" }, json: { type: "boolean" } },
});
const unknown = positionals.filter((each) => !Object.hasOwn(TABLES, each));
if (unknown.length > 0) {
  console.error(
    `No faults are planted in ${unknown.join(", ")}. There are tables for: ${Object.keys(TABLES).join(", ")}.`,
  );
  process.exit(2);
}

function chosen(): Planted[] {
  const names = positionals.length > 0 ? positionals : Object.keys(TABLES);
  const all = names.flatMap((name) => TABLES[name]!.map((each) => ({ ...each, package: name })));
  const named = all.filter(({ name }) => name.includes(options.name ?? ""));
  return options.sample === undefined ? named : sampleOf(named, Number(options.sample));
}

/** A sample of this size, spread over the tables; it changes daily. */
function sampleOf(all: readonly Planted[], size: number): Planted[] {
  const step = Math.max(1, Math.ceil(all.length / size));
  const day = Math.floor(Date.now() / 86_400_000);
  return all.filter((_, index) => index % step === day % step);
}

function say(line: string): void {
  if (options.json !== true) console.log(line);
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, availableParallelism()) }, worker));
}

/** A test that fails without a fault would seem to detect every fault. */
async function soundTests(mutants: readonly Planted[]): Promise<ReadonlySet<string>> {
  const namesByFile = new Map<string, Set<string>>();
  for (const { package: name, seenBy } of mutants) {
    const file = `${name}/${seenBy.file}`;
    namesByFile.set(file, (namesByFile.get(file) ?? new Set()).add(seenBy.name));
  }
  const sound = new Set<string>();
  await inParallel([...namesByFile], async ([path, names]) => {
    const [name, file] = [path.slice(0, path.indexOf("/")), path.slice(path.indexOf("/") + 1)];
    const { passed } = await runTests(join(PACKAGES, name), file, [...names]);
    for (const each of passed) sound.add(testOf(name, file, each));
  });
  return sound;
}

function testOf(folder: string, file: string, name: string): string {
  return JSON.stringify([folder, file, name]);
}

/** Why the fault was not detected, if it was not. */
async function reasonOf(mutant: Planted, sound: ReadonlySet<string>): Promise<string | undefined> {
  const { package: name, file, find, replace, seenBy } = mutant;
  const folder = join(PACKAGES, name);
  const path = join(folder, file);
  if (readFileSync(path, "utf8").split(find).length !== 2) {
    return `its text does not occur exactly once in ${file} any more`;
  }
  const test = `"${seenBy.name}" in ${seenBy.file}`;
  if (!sound.has(testOf(name, seenBy.file, seenBy.name))) return `${test} fails without it`;
  const fault = { file: path, find, replace };
  const { passed, failed, output } = await runTests(folder, seenBy.file, [seenBy.name], fault);
  if (failed.has(seenBy.name)) return undefined;
  return passed.has(seenBy.name) ? `${test} did not notice` : `${test} did not run\n${output}`;
}

const mutants = chosen();
const sound = await soundTests(mutants);
const survived: Survivor[] = [];
await inParallel(mutants, async (mutant) => {
  const { package: folder, name } = mutant;
  const reason = await reasonOf(mutant, sound);
  if (reason !== undefined) survived.push({ package: folder, name, reason });
  say(`${reason === undefined ? "killed  " : "SURVIVED"} ${folder}: ${name}`);
  if (reason !== undefined) say(`         ${reason}`);
});
const planted = mutants.length;
const killed = planted - survived.length;
say(`${killed} passed, ${survived.length} failed`);
console.log(JSON.stringify({ planted, killed, survived }));
process.exitCode = survived.length === 0 && planted > 0 ? 0 : 1;

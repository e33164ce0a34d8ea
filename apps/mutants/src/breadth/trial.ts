/// <reference types="node" />
import { join, relative } from "node:path";
import type { Fault } from "../fault.ts";
import { fullName, patternOf, runVitest } from "../test-process.ts";
import type { FileReport, Tested } from "../test-process.ts";
import type { GeneratedFault } from "./generate.ts";

/** Far above the time of any package's tests: an endless loop ends here. */
const LIMIT_MS = 180_000;
/** A machine under load lets a test fail now and then: so many such files are left out. */
const MISTAKEN_AT_MOST = 3;
const SLOW = ["--exclude", "**/*.slow.test.ts"];

interface FailedTest {
  readonly file: string;
  /** Undefined if the file could not even be loaded. */
  readonly name: string | undefined;
}

/** Whether a test passes without any fault; it is tried once. */
const sound = new Map<string, Promise<boolean>>();

/**
 * Plants a fault, and runs the tests that relate to its source, then the others of the package. Returns
 * the test that has noticed it: one that fails by itself, too, and passes without the fault.
 */
export async function killerOf(
  folder: string,
  { file, at, find, replace }: GeneratedFault,
  limitMs: number = LIMIT_MS,
): Promise<string | undefined> {
  const trial = { folder, fault: { file: join(folder, file), at, find, replace }, limitMs };
  const done = new Set<string>();
  return (await noticed(trial, ["related", file], done)) ?? (await noticed(trial, ["run"], done));
}

interface Trial {
  readonly folder: string;
  readonly fault: Fault;
  readonly limitMs: number;
}

async function noticed(
  trial: Trial,
  words: readonly string[],
  done: Set<string>,
): Promise<string | undefined> {
  const { folder } = trial;
  for (let mistaken = 0; mistaken < MISTAKEN_AT_MOST; mistaken++) {
    const left = [...done].flatMap((each) => ["--exclude", each]);
    const all = [...words, "--run", "--bail", "1", "--passWithNoTests", ...SLOW, ...left];
    const tested = await runVitest({ ...trial, words: all });
    if (tested.files === undefined) return "the limit of time";
    const [failed] = failedTests(folder, tested);
    if (failed === undefined) {
      for (const { name } of tested.files) done.add(relative(folder, name));
      return undefined;
    }
    if ((await fails(trial, failed)) && (await isSound(trial, failed))) {
      return `${failed.file}: ${failed.name ?? "can't be loaded"}`;
    }
    done.add(failed.file);
  }
  return undefined;
}

function failedTests(folder: string, { files = [] }: Pick<Tested, "files">): readonly FailedTest[] {
  return files.flatMap((each): FailedTest[] => {
    const file = relative(folder, each.name);
    const names = failedNames(each);
    if (names.length > 0) return names.map((name) => ({ file, name }));
    return each.status === "failed" ? [{ file, name: undefined }] : [];
  });
}

function failedNames({ assertionResults }: FileReport): readonly string[] {
  return assertionResults.filter(({ status }) => status === "failed").map(fullName);
}

async function fails(
  trial: Omit<Trial, "fault"> & { readonly fault: Fault | undefined },
  { file, name }: FailedTest,
): Promise<boolean> {
  const only = name === undefined ? [] : ["--test-name-pattern", patternOf([name])];
  const words = ["run", file, ...only];
  const tested = await runVitest({ ...trial, words });
  return tested.files === undefined || failedTests(trial.folder, tested).length > 0;
}

function isSound(trial: Trial, test: FailedTest): Promise<boolean> {
  const key = JSON.stringify([trial.folder, test.file, test.name]);
  const without = { ...trial, fault: undefined };
  const known = sound.get(key) ?? fails(without, test).then((isFailing) => !isFailing);
  sound.set(key, known);
  return known;
}

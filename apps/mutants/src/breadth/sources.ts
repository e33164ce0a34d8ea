/// <reference types="node" />
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { folderOf } from "../packages.ts";
import { chosenFaults, faultsIn } from "./generate.ts";
import type { GeneratedFault } from "./generate.ts";

/** How many faults are generated for each package. */
export const COUNTS: Readonly<Record<string, number>> = {
  agent: 55,
  hub: 70,
  server: 55,
  "store-sqlite": 30,
};

/** The faults of this seed are the ones whose survivors are listed. */
export const SEED = 1;

export interface Generated extends GeneratedFault {
  readonly package: string;
}

/** What decides nothing: tests, what only tests use, and lists of exports. */
const IS_NO_SOURCE = /\.test\.ts$|-fixture\.ts$|(^|\/)index\.ts$/;

/** The faults that are generated for these packages. */
export function generatedFaults(
  packages: readonly string[],
  seed: number = SEED,
): readonly Generated[] {
  return packages.flatMap((name) =>
    chosenFaults(allFaults(name), COUNTS[name]!, seed).map((each) => ({ ...each, package: name })),
  );
}

function allFaults(name: string): readonly GeneratedFault[] {
  const folder = folderOf(name);
  return globSync("src/**/*.ts", { cwd: folder })
    .filter((file) => !IS_NO_SOURCE.test(file))
    .toSorted()
    .flatMap((file) => faultsIn(file, readFileSync(join(folder, file), "utf8")));
}

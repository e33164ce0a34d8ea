/// <reference types="node" />
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { COUNTS, generatedFaults } from "./breadth/sources.ts";
import { SURVIVORS } from "./breadth/survivors.ts";
import { TABLES } from "./tables.ts";

const PACKAGES = new URL("../../../packages/", import.meta.url);

const all = Object.entries(TABLES).flatMap(([name, mutants]) =>
  mutants.map((mutant) => ({ ...mutant, folder: name })),
);

test("every fault fits its source, which contains its text exactly once", () => {
  const unfit = all.filter(({ folder, file, find }) => {
    const path = fileURLToPath(new URL(`${folder}/${file}`, PACKAGES));
    return !existsSync(path) || readFileSync(path, "utf8").split(find).length !== 2;
  });
  expect(unfit.map(({ folder, file, name }) => `${folder}/${file}: ${name}`)).toEqual([]);
});

test("every fault has a unique name in its package", () => {
  const names = all.map(({ folder, name }) => `${folder}: ${name}`);
  expect(new Set(names).size).toBe(names.length);
});

test("with the generated ones there are at least 300 faults, and each package has its count", () => {
  const generated = generatedFaults(Object.keys(TABLES));
  for (const [name, count] of Object.entries(COUNTS)) {
    expect(generated.filter((each) => each.package === name)).toHaveLength(count);
  }
  expect(all.length + generated.length).toBeGreaterThanOrEqual(300);
});

test("every listed survivor is one of the generated faults", () => {
  const names = new Set(
    generatedFaults(Object.keys(TABLES)).map((each) => `${each.package}: ${each.name}`),
  );
  const listed = Object.entries(SURVIVORS).flatMap(([folder, reasons]) =>
    Object.keys(reasons).map((name) => `${folder}: ${name}`),
  );
  expect(listed.filter((each) => !names.has(each))).toEqual([]);
});

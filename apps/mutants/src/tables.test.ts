/// <reference types="node" />
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
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

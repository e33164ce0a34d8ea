/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test.for([
  ["first", "Today?\nIt rains.\nTake an umbrella.\n"],
  ["function", "{ town: 'Bergen', rain: true }\n"],
])("the example %s of the README prints its documented output", ([name, printed]) => {
  const example = fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url));
  expect(execFileSync(process.execPath, [example], { encoding: "utf8" })).toBe(printed);
});

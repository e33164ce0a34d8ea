/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test.each([
  ["serve", ["Since which year?", "{ facts: [ 'waybills have been known since 1820' ] }"]],
  [
    "node",
    [
      "values { language: 'en', text: 'regn' }",
      "custom { message: 'looking it up' }",
      "values { language: 'en', text: 'rain, says the translator' }",
    ],
  ],
  ["tool", ["forecaster: rain", "forecaster: sun", "Take an umbrella to Bergen."]],
  ["parked", ["parked", "killed", "woken in another process: the deed, certified"]],
])("the example %s of the README prints its documented output", (name, lines) => {
  const path = fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url));
  const said = execFileSync(process.execPath, [path], { encoding: "utf8" });
  expect(said).toBe(`${lines.join("\n")}\n`);
});

/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SAYS: Readonly<Record<string, string>> = {
  first: [
    "progress: looking around",
    "progress: looking around",
    "rain, by researcher: Found out: Why does it rain?",
    "snow, by researcher: Found out: Why does it snow?",
    "article, by writer: { title: 'Rain', words: 389 }",
    "200\n",
  ].join("\n"),
  manager: "[ 'Rain', 'On paper.' ]\n[ [ 'printer-1', 500, 'There is no paper.' ] ]\n",
};

for (const [name, says] of Object.entries(SAYS)) {
  test(`the example ${name} of the README prints its documented output`, () => {
    const example = fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url));
    expect(execFileSync(process.execPath, [example], { encoding: "utf8" })).toBe(says);
  });
}

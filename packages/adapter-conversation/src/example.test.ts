/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SAYS: Readonly<Record<string, string>> = {
  first: "Take an umbrella.\n[ 'assistant', 'tool', 'assistant' ]\n[]\n",
  team: [
    "writer: Rain is water that falls.",
    "critique: From where does it fall?",
    "writer: It falls from clouds.",
    "translate: Det fell frå skyene. DONE",
    '"DONE" was said\n',
  ].join("\n"),
};

for (const [name, says] of Object.entries(SAYS)) {
  test(`the example ${name} of the README prints its documented output`, () => {
    const example = fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url));
    expect(execFileSync(process.execPath, [example], { encoding: "utf8" })).toBe(says);
  });
}

/// <reference types="node" />
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const README = new URL("../README.md", import.meta.url);

for (const name of ["first", "network"]) {
  test(`the example ${name} of the README runs, and says what the README says`, async () => {
    const example = new URL(`../examples/${name}.ts`, import.meta.url);
    const { stdout } = await promisify(execFile)(process.execPath, [example.pathname]);
    const readme = await readFile(README, "utf8");
    expect(readme).toContain(`\`\`\`ts\n${await readFile(example, "utf8")}\`\`\``);
    expect(readme).toContain(`\`\`\`text\n${stdout}\`\`\``);
  });
}

test("the example of the contract for adapters runs, and says what it says that it says", async () => {
  const example = new URL("../examples/adapter.ts", import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, [example.pathname]);
  expect(stdout).toBe("Which icing?\nA cake with lemon\nlemon tastes good\n");
});

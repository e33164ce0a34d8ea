/// <reference types="node" />
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const EXAMPLE = new URL("../examples/network.ts", import.meta.url);

test("the example of the README runs, and says what the README says", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE.pathname]);
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(`\`\`\`ts\n${await readFile(EXAMPLE, "utf8")}\`\`\``);
  expect(readme).toContain(`\`\`\`text\n${stdout}\`\`\``);
});

test("the example of the contract for adapters runs, and says what it says that it says", async () => {
  const example = new URL("../examples/adapter.ts", import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, [example.pathname]);
  expect(stdout).toBe("Which icing?\nA cake with lemon\nlemon tastes good\n");
});

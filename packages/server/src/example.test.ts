/// <reference types="node" />
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const EXAMPLE = new URL("../examples/first.ts", import.meta.url);

test("the example of the README prints its documented output", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE.pathname]);
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(`\`\`\`ts\n${await readFile(EXAMPLE, "utf8")}\`\`\``);
  expect(readme).toContain(`\`\`\`text\n${stdout}\`\`\``);
});

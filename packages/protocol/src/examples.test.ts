/// <reference types="node" />
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const folder = new URL("../examples/", import.meta.url);

test("the first example prints its documented output", async () => {
  const { stdout } = await run(process.execPath, [new URL("first.ts", folder).pathname]);
  expect(stdout).toBe(await readFile(new URL("first.txt", folder), "utf8"));
});

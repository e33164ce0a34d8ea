/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const EXAMPLE = fileURLToPath(new URL("../../examples/adapter.ts", import.meta.url));

test("the adapter of the README passes every case", () => {
  const said = execFileSync(process.execPath, [EXAMPLE], { encoding: "utf8" });
  expect(said.trim().split("\n").at(-1)).toMatch(/^none: \d+ passed, 0 failed, 0 gaps$/);
});

/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const EXAMPLE = fileURLToPath(new URL("../examples/first.ts", import.meta.url));

test("the example of the README prints its documented output", () => {
  expect(execFileSync(process.execPath, [EXAMPLE], { encoding: "utf8" })).toBe(
    "{ name: 'Anna' }\n",
  );
});

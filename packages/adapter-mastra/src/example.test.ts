/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the example of the README prints its documented output", () => {
  const example = fileURLToPath(new URL("../examples/first.ts", import.meta.url));
  expect(execFileSync(process.execPath, [example], { encoding: "utf8" })).toBe(
    "For which town?\nDet regnar.\n",
  );
});

/// <reference types="node" />
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("the example of the README: one is killed in the middle, another finishes", async () => {
  const path = new URL("first.ts", import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [path]);
  expect(stdout.trimEnd().split("\n")).toEqual([
    "In custody of the hub, receipt signed.",
    "Accepted by anna, receipt signed. Now anna is killed.",
    'Attempt 2, by bert, result signed: "all about waybills"',
  ]);
});

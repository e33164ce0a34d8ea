/// <reference types="node" />
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the example of the README prints its documented output", () => {
  const example = fileURLToPath(new URL("../examples/first.ts", import.meta.url));
  // A user's environment: under "test" the SDK traces nothing.
  const env = { ...process.env, NODE_ENV: "production" };
  expect(execFileSync(process.execPath, [example], { encoding: "utf8", env })).toBe(
    'May billing use pay_back with {"euros":40}?\nYou get your 40 euros back.\n',
  );
});

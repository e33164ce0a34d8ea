/// <reference types="node" />
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("without a group, the groups are listed", () => {
  const { status, stdout } = bench();
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ {2}protocol {2}/m);
});

test("an unknown group is refused on stderr, with the existing groups", () => {
  for (const name of ["nope", "constructor"]) {
    const { status, stdout, stderr } = bench(name, "--json");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(new RegExp(`no group "${name}"[^]*protocol`));
  }
});

test("an invalid option is refused with the usage", () => {
  const { status, stderr } = bench("protocol", "--fast");
  expect(status).toBe(2);
  expect(stderr).toContain("Usage: pnpm bench <group>");
});

function bench(...given: string[]) {
  const entry = fileURLToPath(new URL("bench.ts", import.meta.url));
  return spawnSync(process.execPath, [entry, ...given], { encoding: "utf8" });
}

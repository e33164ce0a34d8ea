/// <reference types="node" />
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsIn } from "./generate.ts";
import { killerOf } from "./trial.ts";

const LIMIT = `
export function isOver(count: number): boolean {
  let left = count;
  while (left > 3) left = left - 1;
  console.assert(left <= 3);
  return count > 3;
}`;
const NEAR = `
import { expect, test } from "vitest";
import { isOver } from "./limit.ts";
test("three is not over", () => expect(isOver(3)).toBe(false));`;
const FAR = `
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
test("four is over", async () => {
  const path = "./limit" + ".ts";
  expect((await import(/* @vite-ignore */ path)).isOver(4)).toBe(true);
});`;
const UNSOUND = `
import { expect, test } from "vitest";
import { isOver } from "./limit.ts";
test("always fails", () => expect(isOver(3)).toBe("sometimes"));`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waybill-trial-"));
  mkdirSync(join(folder, "src"));
  symlinkSync(
    fileURLToPath(new URL("../../../../node_modules", import.meta.url)),
    join(folder, "node_modules"),
  );
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries({
    limit: LIMIT,
    "near.test": NEAR,
    "far.test": FAR,
    "unsound.test": UNSOUND,
  })) {
    writeFileSync(join(folder, "src", `${name}.ts`), text);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function killer(name: string, limitMs?: number): Promise<string | undefined> {
  const file = "src/limit.ts";
  const fault = faultsIn(file, readFileSync(join(folder, file), "utf8")).find(
    (each) => each.name === name,
  );
  return killerOf(folder, fault!, limitMs);
}

test("a related test notices a fault, and one that fails without it does not count", async () => {
  const name = "boundary shifted: src/limit.ts: return count > 3;";
  expect(await killer(name)).toBe("src/near.test.ts: three is not over");
});

test("the other tests of the package are run if the related ones do not notice", async () => {
  const name = "constant changed: src/limit.ts: return count > 3;";
  expect(await killer(name)).toBe("src/far.test.ts: four is over");
});

test("a fault that no test notices survives", async () => {
  expect(await killer("call dropped: src/limit.ts: console.assert(left <= 3);")).toBeUndefined();
});

test("an endless loop ends by the limit of time, with its processes", async () => {
  const name = "assignment dropped: src/limit.ts: while (left > 3) left = left - 1;";
  expect(await killer(name, 15_000)).toBe("the limit of time");
});

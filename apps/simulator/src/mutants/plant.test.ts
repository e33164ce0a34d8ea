/// <reference types="node" />
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const PLANT = new URL("./plant.ts", import.meta.url).href;

/** Planting changes what a process loads, so each case has its own process. */
async function load(find: string, address: string): Promise<string> {
  const mutant = {
    name: "test",
    why: "",
    patches: [{ file: "apps/simulator/src/world/start.ts", find, replace: "Date.UTC(1999, 0, 1)" }],
  };
  const script = `
    const { plant } = await import(${JSON.stringify(PLANT)});
    plant(${JSON.stringify(mutant)});
    const { STARTS_AT } = await import(${JSON.stringify(new URL(address, PLANT).href)});
    console.log(new Date(STARTS_AT).getUTCFullYear());`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script]);
  return stdout.trim();
}

test("changes the source that is loaded, and leaves the judge unchanged", async () => {
  expect(await load("Date.UTC(2026, 0, 1)", "../world/start.ts")).toBe("1999");
  expect(await load("Date.UTC(2026, 0, 1)", "../world/start.ts?sound")).toBe("2026");
});

test("refuses a text that does not occur exactly once", async () => {
  await expect(load("Date.UTC(2027, 0, 1)", "../world/start.ts")).rejects.toThrow(
    /planted bug test does not fit any more.*apps\/simulator\/src\/world\/start\.ts/,
  );
});

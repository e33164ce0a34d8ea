// `pnpm test:openclaw`: the tests with a real gateway of OpenClaw.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import "./install.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const report = join(here, "node_modules", "tests.json");
const REPORTERS = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];

run("tsc", ["-p", here]);
const SETUP = ["--config", join(here, "vitest.config.ts")];
const TIMES = ["--test-timeout", "120000", "--hook-timeout", "300000"];
const isGreen = run("vitest", ["run", "--dir", here, ...SETUP, ...TIMES, ...REPORTERS]);
const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
  readFileSync(report, "utf8"),
);
console.log(`\n${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
process.exit(isGreen ? 0 : 1);

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0 && command !== "vitest") process.exit(status ?? 1);
  return status === 0;
}

// KaibanJS brings 250 MB, so it is no part of the workspace: what is tested with it is installed here,
// from a lock file of its own, by whoever asks for it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const report = join(here, "node_modules", "tests.json");
const env = { ...process.env, KAIBAN_TELEMETRY_OPT_OUT: "1" };
const INSTALL = ["--frozen-lockfile", "--prefer-offline"];
const REPORTERS = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];

run("pnpm", ["install", "--config.minimum-release-age=0", ...INSTALL], here);
run("tsc", ["-p", here]);
const isGreen = run("vitest", ["run", "--dir", here, "--test-timeout", "120000", ...REPORTERS]);
const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
  readFileSync(report, "utf8"),
);
console.log(`\n${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
process.exit(isGreen ? 0 : 1);

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { stdio: "inherit", env, cwd });
  if (status !== 0 && command !== "vitest") process.exit(status ?? 1);
  return status === 0;
}

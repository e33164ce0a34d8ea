// A framework that is too large for the workspace is installed beside the tests that need it, from a
// lock file of their own: by `install.mjs` there, for whoever asks for it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Installs what the folder of this module has in its lock file. */
export function installBeside(module) {
  const cwd = fileURLToPath(new URL(".", module));
  const args = [
    "install",
    "--config.minimum-release-age=0",
    "--frozen-lockfile",
    "--prefer-offline",
  ];
  // What is installed is no answer to whoever reads the output of the program that asks for it.
  const { status } = spawnSync("pnpm", args, { stdio: ["ignore", process.stderr, "inherit"], cwd });
  if (status !== 0) process.exit(status ?? 1);
}

/** Compiles the folder of this module without output. Ends the process if that fails. */
export function compileBeside(module) {
  const { status } = spawnSync("tsc", ["-p", fileURLToPath(new URL(".", module))], {
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Runs vitest, and counts what it ran in the last line. Ends the process. */
export function testAndExit(...options) {
  const folder = mkdtempSync(join(tmpdir(), "waybill-apart-"));
  const report = join(folder, "tests.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const { status } = spawnSync("vitest", ["run", ...options, ...reporters], { stdio: "inherit" });
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  rmSync(folder, { recursive: true });
  console.log(`\n${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
  process.exit(status ?? 1);
}

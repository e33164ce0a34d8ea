// `pnpm test:kaiban` and `pnpm write`: the matrix with KaibanJS, which is installed for it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import "../../packages/adapter-kaiban/with-kaibanjs/install.mjs";

const folder = mkdtempSync(join(tmpdir(), "waybill-matrix-"));
const report = join(folder, "tests.json");
const TIMES = ["--test-timeout", "120000", "--hook-timeout", "120000"];
const REPORTERS = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
const args = ["run", "--dir", "src", ...process.argv.slice(2), ...TIMES, ...REPORTERS];
const { status } = spawnSync("vitest", args, { stdio: "inherit" });
const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
  readFileSync(report, "utf8"),
);
rmSync(folder, { recursive: true });
console.log(`\n${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
process.exit(status ?? 1);

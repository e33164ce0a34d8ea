// `npm test`: the tests of every package, and one line that sums them up.
// `npm test -- envelope`: only test files whose path contains "envelope".
// `npm test -- --slow`: instead the slow suites, which kill processes, measure, or start every
// framework.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { closingLine, count } from "./count.mjs";
import { machine } from "./machine.mjs";
import { reportFile } from "./reporter.mjs";
import { packages, root } from "./workspace.mjs";

const args = process.argv.slice(2);
const task = args.includes("--slow") ? "test:slow" : "test";
const filters = args.filter((arg) => arg !== "--slow");
const isPartial = filters.length > 0;
let exitCode = 0;

const tested = packages().filter(({ manifest }) => manifest.scripts?.[task]);
const runs = runTests(tested, isPartial ? ["--passWithNoTests", ...filters] : []);

const total = count(runs, isPartial);
if (task === "test") total.failed.push(...slowFiles(runs));
if (exitCode !== 0 && total.failed.length === 0) {
  total.failed.push(
    `the run ended with exit code ${exitCode}, though no test failed: its output stands above`,
  );
}
if (isPartial && total.passed + total.failed.length + total.skipped.length === 0) {
  total.failed.push(`no test file's path contains ${filters.join(" or ")}`);
}
list("Skipped", total.skipped);
list("Failed", total.failed);
if (!isPartial && task === "test") {
  console.log(
    "\nLeft out: the slow suites (npm test -- --slow), and Python's (npm run test:python).",
  );
}
console.log(`\n${closingLine(total)}`);
process.exitCode = total.failed.length > 0 ? 1 : 0;

function runTests(chosen, vitestArgs) {
  // So that a crashed run is not counted by an earlier report.
  for (const each of chosen) rmSync(reportOf(each), { force: true });
  const names = chosen.map(({ name }) => `--filter=${name}`);
  const turbo = ["run", task, "--continue=always", "--concurrency=2", "--output-logs=new-only"];
  // Two files of a package at once: tests mostly wait, and the last package would otherwise use only
  // one core.
  const vitest = [
    "--maxWorkers=2",
    "--reporter=default",
    "--reporter=../../.tools/reporter.mjs",
    ...vitestArgs,
  ];
  const { status } = spawnSync("turbo", [...turbo, ...names, "--", ...vitest], {
    cwd: root,
    // turbo gives every task a pseudo-terminal, so vitest would write colours into log files too.
    env: {
      ...process.env,
      WAYBILL_MACHINE: machine(),
      // The command's tests start it hundreds of times, from TypeScript.
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"),
      ...(process.stdout.isTTY ? {} : { NO_COLOR: "1" }),
    },
    stdio: "inherit",
  });
  exitCode ||= status ?? 1;
  return chosen.map((each) => ({ ...each, report: read(reportOf(each)) }));
}

// Files are excluded by a pattern in their package's script, and a pattern that matches nothing gives
// no warning.
function slowFiles(reported) {
  return reported.flatMap(({ name, report }) =>
    Object.keys(report?.files ?? {})
      .filter((file) => file.endsWith(".slow.test.ts"))
      .map((file) => `${name}: ${file} is a slow suite, and the script "test" runs it`),
  );
}

function reportOf({ folder }) {
  return join(root, folder, reportFile);
}

function read(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

function list(title, lines) {
  if (lines.length > 0) console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

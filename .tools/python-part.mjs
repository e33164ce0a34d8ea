// One part of `npm run test:python`, in an existing environment.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { count, sum } from "./count.mjs";
import { install, programOf } from "./python-environment.mjs";
import { environmentsOf, parts } from "./python-parts.mjs";
import { countOf } from "./python-report.mjs";
import { folder, run } from "./python-run.mjs";
import { reportFile } from "./reporter.mjs";
import { root } from "./workspace.mjs";

/** What has passed, failed and been skipped, in the form for `closingLine`. */
export function testPart(name) {
  console.log(`\n=== ${name}`);
  const { paths, checks = [], host, hasWaybill = true, suites = [] } = parts[name];
  const broken = hasWaybill && environmentsOf(name).find((each) => !install(each));
  if (broken) return named(broken, failure("the wheel could not be built and installed"));
  const own = host === undefined ? ownTests(name, checks, paths) : testHost(name, host);
  return sum([own, ...suites.map((suite) => named(suite, runSuite(suite)))]);
}

function ownTests(name, checks, paths) {
  return named(name, sum([...checks.map((check) => runCheck(name, check)), runTests(name, paths)]));
}

function runCheck(name, [command, ...args]) {
  const isPassed = run(programOf(name, command), args, name);
  return isPassed
    ? { passed: 1, failed: [], skipped: [] }
    : failure(`${command} ${args.join(" ")}`);
}

function runTests(name, paths) {
  const report = join(folder, ".venvs", `${name}.xml`);
  rmSync(report, { force: true });
  const args = ["-m", "pytest", "-q", "-rs", `--junitxml=${report}`, ...paths];
  const isPassed = run(programOf(name, "python"), args, name);
  return ended(isPassed, countOf(existsSync(report) ? readFileSync(report, "utf8") : ""));
}

/** The suite that every adapter passes, run over the wire. Gaps are reported with their reason. */
function runSuite(name) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, ".tools", "conformance.mjs"), name, "--json"],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" },
  );
  try {
    const { passed, failures, gaps } = JSON.parse(stdout);
    console.log(
      `the suite of adapters: ${passed} passed, ${failures.length} failed, ${gaps.length} gaps`,
    );
    return {
      passed,
      failed: failures.map((each) => `${each.case}: ${each.message}`),
      skipped: gaps.map((each) => `${each.case}: ${each.reason}`),
    };
  } catch {
    return failure(`the suite of adapters ended with exit code ${status}\n${stdout}`);
  }
}

/** The tests of a package in TypeScript that starts programs in Python. */
function testHost(name, host) {
  const place = join(root, host.folder);
  const report = join(place, reportFile);
  rmSync(report, { force: true });
  const reporters = ["--reporter=default", "--reporter=../../.tools/reporter.mjs"];
  const interpreter = host.python === undefined ? {} : { [host.python]: programOf(name, "python") };
  const args = ["--dir", place, "run", host.script, ...reporters];
  const isPassed = run("pnpm", args, name, interpreter);
  const found = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined;
  return ended(isPassed, count([{ name, report: found }]), `${name}: ${BADLY}`);
}

const BADLY = "its tests ended badly, though none failed: the output stands above";

function ended(isPassed, counts, badly = BADLY) {
  return isPassed || counts.failed.length > 0 ? counts : { ...counts, failed: [badly] };
}

function named(name, { passed, failed, skipped }) {
  const after = (line) => `${name}: ${line}`;
  return { passed, failed: failed.map(after), skipped: skipped.map(after) };
}

function failure(message) {
  return { passed: 0, failed: [message], skipped: [] };
}

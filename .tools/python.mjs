// `npm run test:python`: the tests of packages/python, each part in a virtual environment of its own.
// `npm run test:python -- core`: only this part. PYTHON names another interpreter than the first that fits.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closingLine, count } from "./count.mjs";
import { reportFile } from "./reporter.mjs";
import { root } from "./workspace.mjs";

const folder = join(root, "packages", "python");
const dist = join(folder, "dist");

/** Frameworks disagree about what they depend on: one environment each. */
const parts = {
  core: {
    paths: ["tests", "--ignore-glob=*/with_*"],
    checks: [
      ["ruff", "check", "."],
      ["ruff", "format", "--check", "."],
      [
        "mypy",
        "--python-version",
        "3.10",
        "-m",
        "waybill",
        "-m",
        "waybill.blocking",
        "-p",
        "waybill.protocol",
        "-p",
        "waybill.adapter",
      ],
    ],
  },
  autogen: {
    paths: ["tests/with_autogen"],
    checks: [["mypy", "-p", "waybill.autogen"]],
    isAdapter: true,
  },
  crewai: {
    paths: ["tests/with_crewai"],
    checks: [["mypy", "-p", "waybill.crewai"]],
    isAdapter: true,
  },
  // Its workers have nothing of Waybill in them: what is tested is the host that they connect to.
  "autogen-grpc": {
    hasWaybill: false,
    host: {
      folder: "packages/adapter-autogen",
      script: "test",
      python: "WAYBILL_AUTOGEN_PYTHON",
    },
  },
  // Every pair of frameworks of which one is in Python.
  matrix: {
    environments: ["autogen", "crewai"],
    host: { folder: "apps/matrix", script: "test:python" },
  },
};

const QUIETLY = ["install", "-q", "--disable-pip-version-check"];

/** An environment and what it has in it: pip's arguments come after its place. */
const MAKE = `
import os, subprocess, sys, venv
place, *arguments = sys.argv[1:]
venv.create(place, clear=True, with_pip=True)
python = os.path.join(place, "Scripts" if os.name == "nt" else "bin", "python")
sys.exit(subprocess.call([python, "-m", "pip", *arguments]))
`;

const candidates = ["python3", "python3.13", "python3.12", "python3.11", "python3.10"];
const probe =
  "import sys, venv, ensurepip; print(sys.version.split()[0]); sys.exit(not (3, 10) <= sys.version_info < (3, 14))";

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(
    `No part is called ${unknown.join(", ")}. There are: ${Object.keys(parts).join(", ")}.`,
  );
  process.exit(2);
}

const total = { passed: 0, failed: [], skipped: [] };
const installed = new Set();
const python = findPython();
if (python === undefined) {
  total.failed.push(
    "there is no Python 3.10 to 3.13 with venv here. Install python3 and python3-venv, or name one: PYTHON=/path/to/python",
  );
} else {
  console.log(`Python ${python.version} (${python.command})`);
  const names = chosen.length > 0 ? chosen : Object.keys(parts);
  // Downloads wait for others: what a later part needs comes while an earlier one is tested.
  const needed = new Set(names.flatMap(environmentsOf));
  const environments = new Map([...needed].map((name) => [name, setUp(name)]));
  for (const name of names) {
    const areReady = await Promise.all(environmentsOf(name).map((each) => environments.get(each)));
    if (areReady.every(Boolean)) runPart(name);
    else total.failed.push(`${name}: its environment could not be made; why stands above`);
  }
}
if (total.skipped.length > 0) list("Skipped", total.skipped);
if (total.failed.length > 0) list("Failed", total.failed);
console.log(`\n${closingLine(total)}`);
process.exitCode = total.failed.length > 0 ? 1 : 0;

function findPython() {
  const named = process.env.PYTHON;
  for (const command of named === undefined ? candidates : [named]) {
    const { status, stdout } = spawnSync(command, ["-c", probe], { encoding: "utf8" });
    if (status === 0) return { command, version: stdout.trim() };
  }
  return undefined;
}

function runPart(name) {
  console.log(`\n=== ${name}`);
  const { paths, checks = [], host, hasWaybill = true, isAdapter = false } = parts[name];
  if (hasWaybill && !environmentsOf(name).every(install)) return;
  if (host !== undefined) return runHost(name, host);
  const bin = binOf(name);
  for (const [command, ...args] of checks) {
    if (run(join(bin, command), args, name)) total.passed++;
    else total.failed.push(`${name}: ${command} ${args.join(" ")}`);
  }
  const report = join(folder, ".venvs", `${name}.xml`);
  rmSync(report, { force: true });
  const isPassed = run(
    join(bin, "python"),
    ["-m", "pytest", "-q", "-rs", `--junitxml=${report}`, ...paths],
    name,
  );
  const counts = countOf(existsSync(report) ? readFileSync(report, "utf8") : "");
  total.passed += counts.passed;
  total.failed.push(...counts.failed.map((test) => `${name}: ${test}`));
  total.skipped.push(...counts.skipped.map((test) => `${name}: ${test}`));
  if (!isPassed && counts.failed.length === 0) {
    total.failed.push(
      `${name}: its tests ended badly, though none failed: the output stands above`,
    );
  }
  if (isAdapter) runSuite(name);
}

/** The suite that every adapter passes, driven over the wire. A gap is what it leaves out, with the reason. */
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
    total.passed += passed;
    total.failed.push(...failures.map((each) => `${name}: ${each.case}: ${each.message}`));
    total.skipped.push(...gaps.map((each) => `${name}: ${each.case}: ${each.reason}`));
  } catch {
    total.failed.push(`${name}: the suite of adapters ended with exit code ${status}\n${stdout}`);
  }
}

/** The tests of a package in TypeScript, which start programs in Python. */
function runHost(name, host) {
  const place = join(root, host.folder);
  const report = join(place, reportFile);
  rmSync(report, { force: true });
  const reporters = ["--reporter=default", "--reporter=../../.tools/reporter.mjs"];
  const interpreter =
    host.python === undefined ? {} : { [host.python]: join(binOf(name), "python") };
  const args = ["--dir", place, "run", host.script, ...reporters];
  const isPassed = run("pnpm", args, name, interpreter);
  const found = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined;
  const counts = count([{ name, report: found }]);
  total.passed += counts.passed;
  total.failed.push(...counts.failed);
  total.skipped.push(...counts.skipped);
  if (!isPassed && counts.failed.length === 0) {
    total.failed.push(
      `${name}: its tests ended badly, though none failed: the output stands above`,
    );
  }
}

/** An environment from pinned and hashed requirements; made anew when they change. */
async function setUp(name) {
  const place = placeOf(name);
  const requirements = join(folder, "requirements", `${name}.txt`);
  const stamp = join(place, ".waybill-setup");
  const fingerprint = createHash("sha256")
    .update(`${python.version}\0${python.command}\0`)
    .update(readFileSync(requirements))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint) return true;
  console.log(`=== ${name}: setting up (once)`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(join(folder, ".venvs"), { recursive: true });
  const pinned = ["--require-hashes", "--only-binary", ":all:", "-r", requirements];
  const making = spawn(python.command, ["-c", MAKE, place, ...QUIETLY, ...pinned], {
    stdio: "inherit",
  });
  const isMade = await new Promise((resolve) => {
    making.once("error", () => resolve(false));
    making.once("close", (status) => resolve(status === 0));
  });
  if (isMade) writeFileSync(stamp, fingerprint);
  return isMade;
}

function environmentsOf(name) {
  return parts[name].environments ?? [name];
}

function placeOf(name) {
  return join(folder, ".venvs", name);
}

function binOf(name) {
  return join(placeOf(name), process.platform === "win32" ? "Scripts" : "bin");
}

function install(name) {
  if (installed.has(name)) return true;
  const bin = binOf(name);
  const isInstalled =
    build(bin, name) && pip(bin, name, "--no-deps", "--no-index", "--force-reinstall", wheel());
  if (isInstalled) installed.add(name);
  else total.failed.push(`${name}: the wheel could not be built and installed`);
  return isInstalled;
}

function pip(bin, name, ...args) {
  return run(join(bin, "python"), ["-m", "pip", ...QUIETLY, ...args], name);
}

/** What is tested is what is published: a wheel, and the sdist beside it. */
function build(bin, name) {
  rmSync(dist, { recursive: true, force: true });
  return run(join(bin, "python"), ["-m", "hatchling", "build"], name);
}

function wheel() {
  return join(
    dist,
    readdirSync(dist).find((file) => file.endsWith(".whl")),
  );
}

function run(command, args, name, more = {}) {
  const home = join(folder, ".venvs", `${name}.home`);
  mkdirSync(home, { recursive: true });
  const { status, error } = spawnSync(command, args, {
    cwd: folder,
    stdio: "inherit",
    env: { ...process.env, ...silence(args.includes("pytest") ? home : undefined), ...more },
  });
  if (error !== undefined) console.error(`${command} did not start: ${error.message}`);
  return status === 0;
}

/** No framework is to speak with anybody, and what it keeps at home is kept here. */
function silence(home) {
  return {
    PYTHONDONTWRITEBYTECODE: "1",
    DO_NOT_TRACK: "1",
    OTEL_SDK_DISABLED: "true",
    AUTOGEN_DISABLE_RUNTIME_TRACING: "true",
    CREWAI_DISABLE_TELEMETRY: "true",
    CREWAI_DISABLE_TRACKING: "true",
    CREWAI_TRACING_ENABLED: "false",
    CREWAI_DISABLE_VERSION_CHECK: "true",
    CREWAI_TESTING: "true",
    ...(home === undefined ? {} : { HOME: home }),
  };
}

/**
 * What a report of pytest says.
 * @param {string} xml
 */
function countOf(xml) {
  /** @type {{ passed: number, failed: string[], skipped: string[] }} */
  const counts = { passed: 0, failed: [], skipped: [] };
  for (const [, attributes, , body = ""] of xml.matchAll(
    /<testcase ([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const test = ["classname", "name"].map((each) => attribute(attributes, each)).join(" > ");
    if (/<(failure|error)\b/.test(body)) counts.failed.push(test);
    else if (/<skipped\b/.test(body)) counts.skipped.push(`${test}: ${attribute(body, "message")}`);
    else counts.passed++;
  }
  return counts;
}

function attribute(text, name) {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? "";
}

function list(title, lines) {
  console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

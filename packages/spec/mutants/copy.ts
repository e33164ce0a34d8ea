import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the protocol in the checkout, which is only read. */
export const PROTOCOL: string = fileURLToPath(new URL("../../protocol/", import.meta.url));
// The schema validator enforces some rules, so faults are planted in its sources too.
const SCHEMAS = join(PROTOCOL, "..", "json-schema");
const RULES = join(PROTOCOL, "src", "rules");

// Much longer than a run takes, so a run that takes this long hangs.
const HANG_MS = 60_000;

const vitest = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);

/** The result of a run of tests. */
export interface Run {
  /** The titles of the tests, by result. */
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** The file, relative to the protocol's folder, of the test with this title. */
  readonly fileOf: ReadonlyMap<string, string>;
  /** Why the run's result is unusable, if it is. */
  readonly fault: string | undefined;
}

/**
 * A copy of the protocol with only the tests of the rules, beside a copy of the schema validator:
 * files of both may be changed. Returns the folder of the protocol.
 */
export function copyPackage(scratch: string): string {
  const folder = join(scratch, "protocol");
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@waybill"), { recursive: true });
  copySources(PROTOCOL, folder);
  copySources(SCHEMAS, join(scratch, "json-schema"));
  symlinkSync(join(scratch, "json-schema"), join(modules, "@waybill", "json-schema"));
  // Each dependency separately, because vitest keeps its cache in this folder.
  for (const name of readdirSync(join(PROTOCOL, "node_modules"))) {
    if (name.startsWith(".") || name === "@waybill") continue;
    symlinkSync(realpathSync(join(PROTOCOL, "node_modules", name)), join(modules, name));
  }
  return folder;
}

function copySources(from: string, to: string): void {
  cpSync(join(from, "package.json"), join(to, "package.json"));
  cpSync(join(from, "src"), join(to, "src"), { recursive: true, filter: isNeeded });
}

/** Other tests are not copied, because they show no rule. */
function isNeeded(source: string): boolean {
  if (!source.endsWith(".test.ts")) return true;
  return dirname(source) === RULES;
}

interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { title: string; status: string }[];
  }[];
}

/** Runs the tests of a copy: all of them, or those in some files whose name contains a text. */
export async function runTests(
  folder: string,
  files: readonly string[] = ["src/rules"],
  name?: string,
): Promise<Run> {
  const reportFile = join(folder, "report.json");
  rmSync(reportFile, { force: true });
  const chosen = name === undefined ? [] : ["--testNamePattern", name];
  const report = ["--reporter=json", `--outputFile=${reportFile}`];
  const args = [vitest, "run", "--root", folder, ...report, ...chosen, ...files];
  const output = await runToEnd(args, folder);
  if (output === undefined) return nothing(`it took longer than ${HANG_MS / 1000} s`);
  if (!existsSync(reportFile)) return nothing(`vitest wrote no report: ${output.trim()}`);
  const { testResults } = JSON.parse(readFileSync(reportFile, "utf8")) as Report;
  const tests = testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ title, status }) => ({ title, status, file: relative(folder, file) })),
  );
  const titles = (wanted: string) =>
    tests.filter(({ status }) => status === wanted).map(({ title }) => title);
  const unread = testResults.find(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  return {
    passed: titles("passed"),
    failed: titles("failed"),
    fileOf: new Map(tests.map(({ title, file }) => [title, file])),
    fault:
      unread === undefined ? undefined : `its tests don't load: ${unread.message.split("\n")[0]}`,
  };
}

function nothing(fault: string): Run {
  return { passed: [], failed: [], fileOf: new Map(), fault };
}

/** Node's output, or undefined if it had to be killed. */
async function runToEnd(args: readonly string[], cwd: string): Promise<string | undefined> {
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  let hangs = false;
  const timer = setTimeout(() => {
    hangs = true;
    child.kill("SIGKILL");
  }, HANG_MS);
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  clearTimeout(timer);
  return hangs ? undefined : output;
}

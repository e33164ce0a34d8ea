/// <reference types="node" />
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { environmentOf } from "./fault.ts";
import type { Fault } from "./fault.ts";

/** Longer than any of these tests takes: a test that hangs has detected the fault. */
const TEST_MS = 60_000;
const RUN_MS = 5 * TEST_MS;

const VITEST = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);
const CONFIG = fileURLToPath(new URL("vitest.config.ts", import.meta.url));
const HOOK = new URL("hook.ts", import.meta.url).href;

export interface TestRun {
  readonly passed: ReadonlySet<string>;
  readonly failed: ReadonlySet<string>;
  readonly output: string;
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** Runs the tests of a file with these names, with or without a fault. */
export async function runTests(
  folder: string,
  file: string,
  names: readonly string[],
  fault?: Fault,
): Promise<TestRun> {
  const scratch = mkdtempSync(join(tmpdir(), "waybill-mutants-"));
  try {
    const reportFile = join(scratch, "report.json");
    const pattern = `^(${names.map(escaped).join("|")})$`;
    const output = await run(folder, [file, "--test-name-pattern", pattern], reportFile, fault);
    return { ...readReport(reportFile), output };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function run(
  folder: string,
  tests: readonly string[],
  reportFile: string,
  fault: Fault | undefined,
): Promise<string> {
  const times = ["--test-timeout", `${TEST_MS}`, "--hook-timeout", `${TEST_MS}`];
  const reports = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  // Cached code was transformed without the fault, or with another one.
  const fresh = "--experimental.fsModuleCache=false";
  const more = [...times, ...reports, fresh, "--root", folder, "--dir", "src"];
  const config = fault === undefined ? [] : ["--config", CONFIG];
  const child = spawn(process.execPath, [VITEST, "run", ...config, ...more, ...tests], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", ...(fault && withFault(fault)) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), RUN_MS);
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  clearTimeout(timer);
  return output;
}

function withFault(fault: Fault): Record<string, string> {
  const options = `${process.env["NODE_OPTIONS"] ?? ""} --import=${HOOK}`;
  return { ...environmentOf(fault), NODE_OPTIONS: options.trim() };
}

/** Without a report no test has finished, so none has passed or failed. */
function readReport(file: string): Pick<TestRun, "passed" | "failed"> {
  const passed = new Set<string>();
  const failed = new Set<string>();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return { passed, failed };
  }
  for (const { assertionResults } of (JSON.parse(text) as Report).testResults) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      const name = [...ancestorTitles, title].join(" > ");
      if (status === "passed") passed.add(name);
      if (status === "failed") failed.add(name);
    }
  }
  return { passed, failed };
}

function escaped(text: string): string {
  return text.replace(/[^\w\s]/g, "\\$&");
}

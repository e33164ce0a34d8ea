/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { environmentOf } from "./fault.ts";
import type { Fault } from "./fault.ts";

/** Longer than any of these tests takes: a test that hangs has detected the fault. */
export const TEST_MS = 60_000;

const VITEST = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);
const CONFIG = fileURLToPath(new URL("vitest.config.ts", import.meta.url));
const HOOK = new URL("hook.ts", import.meta.url).href;

/** What vitest is started with, for one package. */
export interface TestOrder {
  readonly folder: string;
  /** The command, and which tests. */
  readonly words: readonly string[];
  readonly limitMs: number;
  readonly fault?: Fault | undefined;
}

/** The outcome of one file of tests. */
export interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly {
    readonly ancestorTitles: readonly string[];
    readonly title: string;
    readonly status: string;
  }[];
}

export interface Tested {
  /** Undefined if it did not finish in time. */
  readonly files: readonly FileReport[] | undefined;
  readonly output: string;
}

const running = new Set<ChildProcess>();
// A test in an endless loop does not notice that whoever started it is gone.
process.once("exit", () => running.forEach(end));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** Runs tests of a package, with or without a fault in its sources. */
export async function runVitest({ folder, words, limitMs, fault }: TestOrder): Promise<Tested> {
  const scratch = mkdtempSync(join(tmpdir(), "waybill-mutants-"));
  try {
    const reportFile = join(scratch, "report.json");
    const times = ["--test-timeout", `${TEST_MS}`, "--hook-timeout", `${TEST_MS}`];
    const reports = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
    // Cached code was transformed without the fault, or with another one.
    const fresh = "--experimental.fsModuleCache=false";
    const more = [...times, ...reports, fresh, "--root", folder, "--dir", "src"];
    const config = fault === undefined ? [] : ["--config", CONFIG];
    const child = spawn(process.execPath, [VITEST, ...words, ...config, ...more], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1", ...(fault && withFault(fault)) },
      stdio: ["ignore", "pipe", "pipe"],
      // With a group of its own, so that its workers can be ended with it.
      detached: true,
    });
    running.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    const timer = setTimeout(() => end(child), limitMs);
    await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
    clearTimeout(timer);
    end(child);
    running.delete(child);
    return { files: readReport(reportFile), output };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended, with all of its workers.
  }
}

function withFault(fault: Fault): Record<string, string> {
  const options = `${process.env["NODE_OPTIONS"] ?? ""} --import=${HOOK}`;
  return { ...environmentOf(fault), NODE_OPTIONS: options.trim() };
}

function readReport(file: string): readonly FileReport[] | undefined {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { testResults: FileReport[] }).testResults;
  } catch {
    return undefined;
  }
}

/** The full name of a test: "group > test". */
export function fullName({
  ancestorTitles,
  title,
}: FileReport["assertionResults"][number]): string {
  return [...ancestorTitles, title].join(" > ");
}

/** A pattern for exactly these tests. */
export function patternOf(names: readonly string[]): string {
  return `^(${names.map((name) => name.replace(/[^\w\s]/g, "\\$&")).join("|")})$`;
}

// Tries the table of who may do what many times, each time in another order. Then takes the guards
// of a hub away, one after the other, and sees whether a cell of the table, or the test that a
// mutant names, notices each:
// `node mutants/run.ts [--third] [part of a name]`; `--third` plants every third fault, the others on
// the next two days.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MUTANTS } from "./mutants.ts";
import type { Mutant, NamedTest } from "./mutants.ts";

const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));
const TEST = "server/src/authorization/authorization.test.ts";
const CELLS = "every cell of the table holds, whatever was tried before";
// Far beyond what a run takes, so that beyond it something hangs.
const HANG_MS = 600_000;

/** How often the table is tried without a fault. */
const ROUNDS = 4;
/**
 * How often it is tried with a fault that nothing has noticed yet. Some faults show only where a cell
 * is tried in one stage of a handoff, and that stage is drawn at random.
 */
const ROUNDS_WITH_FAULT = [1, ROUNDS, ROUNDS, ROUNDS] as const;

const CONFIG = fileURLToPath(new URL("vitest.config.ts", import.meta.url));
const WITH_FAULT = ["--config", CONFIG];

const DAY_MS = 24 * 60 * 60 * 1_000;
const words = process.argv.slice(2);
const isThird = words.includes("--third");
const [part = ""] = words.filter((word) => word !== "--third");
const vitest = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);

/** Why the mutant was not noticed, where it was not. */
async function faultOf({ name, file, find, seenBy }: Mutant): Promise<string | undefined> {
  const source = readFileSync(join(PACKAGES, file), "utf8");
  if (source.split(find).length !== 2) return "its text does not occur exactly once any more";
  if (seenBy !== undefined) return faultOfTest(name, seenBy);
  let seen = "";
  for (const rounds of ROUNDS_WITH_FAULT) {
    const env = { WAYBILL_MUTANT: name, WAYBILL_CASES: `${rounds}` };
    const { output } = await run(WITH_FAULT, TEST, env);
    // Anything else that fails would count as noticing every fault.
    if (output.includes(`× ${CELLS}`) && output.includes("WAYBILL_SEED=")) return undefined;
    seen = output;
  }
  return `no cell noticed\n${seen}`;
}

async function faultOfTest(name: string, test: NamedTest): Promise<string | undefined> {
  const sound = await run([], test.file, {}, test.name);
  if (sound.code !== 0 || !sound.output.includes("1 passed")) {
    return `${test.name} does not pass without it\n${sound.output}`;
  }
  const { code, output } = await run(WITH_FAULT, test.file, { WAYBILL_MUTANT: name }, test.name);
  const isSeen = code !== 0 && output.includes(test.name) && output.includes("1 failed");
  return isSeen ? undefined : `${test.name} did not notice\n${output}`;
}

async function faultOfTable(): Promise<string | undefined> {
  const { code, output } = await run([], TEST, { WAYBILL_CASES: `${ROUNDS}` });
  return code === 0 ? undefined : output;
}

/** `code` is null where it had to be ended. */
async function run(
  more: readonly string[],
  file: string,
  env: Readonly<Record<string, string>>,
  only?: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const time = ["--test-timeout", `${HANG_MS}`, "--hook-timeout", `${HANG_MS}`];
  // What is cached was transformed without the fault, or with another one.
  const fresh = "--experimental.fsModuleCache=false";
  const named = only === undefined ? [] : ["--test-name-pattern", `${escaped(only)}$`];
  const [folder = "", ...path] = file.split("/");
  const home = join(PACKAGES, folder);
  const at = ["--root", home, "--dir", "src"];
  const args = [vitest, "run", ...more, fresh, ...at, ...time, ...named, path.join("/")];
  const child = spawn(process.execPath, args, {
    cwd: home,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), HANG_MS);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("error", reject).once("close", resolve),
  );
  clearTimeout(timer);
  return { code, output };
}

function escaped(text: string): string {
  return text.replace(/[^\w\s]/g, "\\$&");
}

let passed = 0;
let failed = 0;

function report(name: string, fault: string | undefined): void {
  if (fault === undefined) passed++;
  else failed++;
  console.log(fault === undefined ? `       ${name}` : `FAILED ${name}: ${fault}`);
}

if (part === "") report(`the table, ${ROUNDS} times`, await faultOfTable());
const today = Math.floor(Date.now() / DAY_MS) % 3;
for (const mutant of MUTANTS.filter(
  ({ name }, index) => name.includes(part) && (!isThird || index % 3 === today),
)) {
  report(mutant.name, await faultOf(mutant));
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

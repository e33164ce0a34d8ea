// Plants the faults of an adapter's sabotage.json in its source, one after the other, and checks that
// a case of the suite fails for each: `pnpm conformance echo --sabotage`.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { faultsBeside, planted } from "./sabotage-fault.mjs";
import { root } from "./workspace.mjs";

const HOOK = pathToFileURL(join(root, ".tools/sabotage-hook.mjs")).href;
const CASES = join(root, ".tools/sabotage-cases.mjs");
const PYTHON = join(root, "packages/python/src");

/** A fault may make a case hang, and a case of a sound adapter takes much less. */
const PATIENCE_MS = 10_000;
/** Much longer than a run takes, so a run that takes this long hangs. */
const HANG_MS = 300_000;

/**
 * Runs the suite for each fault of an adapter; calls `hear` with each result. A sample takes this
 * many faults, spread over the table.
 */
export async function sabotage(adapter, fixture, { sample, hear }) {
  const all = faultsBeside(fixture);
  if (all === undefined) {
    throw new Error(`There is no sabotage.json beside ${relative(root, fixture)}.`);
  }
  const faults = sample === undefined ? all : sampleOf(all, sample);
  for (const each of new Set(faults.map((fault) => fault.fixture))) await assertSound(each);
  const results = [];
  for (const fault of faults) {
    const result = { name: fault.name, ...(await judge(fault)) };
    results.push(result);
    hear(result);
  }
  return {
    adapter,
    planted: results.length,
    caught: results.filter((each) => each.case !== undefined).length,
    missed: results.filter((each) => each.case === undefined).map(({ name }) => name),
    results,
  };
}

/** A case that fails without a fault would seem to detect every fault. */
async function assertSound(fixture) {
  // A slow machine must not fail a sound case.
  const { case: failed, says } = await run({
    fixture,
    first: [],
    others: true,
    patienceMs: undefined,
  });
  if (failed === undefined) return;
  throw new Error(`Without a fault, the suite fails at "${failed}": ${says}`);
}

/** Determines which case detects the fault, and its message. */
async function judge(fault) {
  const asked = { fixture: fault.fixture, first: fault.cases, others: true };
  const verdict = fault.file.endsWith(".py")
    ? await runOverCopy(asked, fault)
    : await run(asked, { WAYBILL_FAULT: JSON.stringify(fault), NODE_OPTIONS: `--import=${HOOK}` });
  if (verdict.missing.length === 0) return { case: verdict.case, says: verdict.says };
  const names = verdict.missing.map((each) => `"${each}"`).join(", ");
  throw new Error(`The fault "${fault.name}" names ${names}, which is part of no case's name.`);
}

/** Python imports a package from the first folder of its path that contains it. */
async function runOverCopy(asked, fault) {
  const folder = mkdtempSync(join(tmpdir(), "waybill-sabotage-"));
  try {
    cpSync(PYTHON, folder, { recursive: true });
    const source = planted(readFileSync(fault.file, "utf8"), fault);
    writeFileSync(join(folder, relative(PYTHON, fault.file)), source);
    return await run(asked, { PYTHONPATH: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(asked, env = {}) {
  const args = [CASES, JSON.stringify({ patienceMs: PATIENCE_MS, ...asked })];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, complaint] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (complaint += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), HANG_MS);
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  clearTimeout(timer);
  const last = output.trimEnd().split("\n").at(-1);
  try {
    return JSON.parse(last);
  } catch {
    throw new Error(`The suite came to no end:\n${output}${complaint}`);
  }
}

function sampleOf(faults, size) {
  if (size >= faults.length) return faults;
  return Array.from({ length: size }, (_, at) => faults[Math.floor((at * faults.length) / size)]);
}

/** The result of one fault, as a line. */
export function sabotageLine({ name, case: noticed }) {
  return noticed === undefined
    ? `MISSED  ${name}\n        no case fails`
    : `caught  ${name}\n        ${noticed}`;
}

/** The results for people. */
export function sabotageAsText({ adapter, planted: count, caught, missed }) {
  const summary = `${adapter}: ${count} planted, ${caught} caught, ${missed.length} missed`;
  return ["", ...missed.map((name) => `missed: ${name}`), summary, ""].join("\n");
}

/** The results for programs, in one line. */
export function sabotageAsJson({ adapter, planted: count, caught, missed }) {
  return JSON.stringify({ adapter, planted: count, caught, missed });
}

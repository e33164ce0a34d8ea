/// <reference types="node" />
import { equal, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ledgerEntries, verifyLedger } from "@waybill/hub";
import type { LedgerEntry, Store } from "@waybill/hub";
import type { SettingChange } from "@waybill/hub/store";

// The same file beside this one, in the sources and in the published package.
const WRITER = fileURLToPath(
  new URL(`./writer-process${import.meta.url.slice(-3)}`, import.meta.url),
);

export interface WriterRun {
  /** The latest version of each handoff that was acknowledged. */
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly wasKilled: boolean;
}

export interface WriterOptions {
  readonly module: URL;
  readonly location: string;
  /** How many commits it makes if it lives. */
  readonly count: number;
  readonly inFlight: number;
  /** After how many acknowledged commits it is killed. */
  readonly killAfter?: number | undefined;
  /** A wrapper that starts it, if any. */
  readonly command?: readonly string[] | undefined;
  /** A folder that keeps compiled code for the next run. */
  readonly compileCache?: string | undefined;
}

/** Lets a separate process write, and collects its output until its end. */
export async function runWriter(options: WriterOptions): Promise<WriterRun> {
  const { module, location, count, inFlight, killAfter = Infinity, command = [] } = options;
  const node = [process.execPath, WRITER, module.href, location, `${count}`, `${inFlight}`];
  const [program, ...parameters] = [...command, ...node];
  const { compileCache = process.env["NODE_COMPILE_CACHE"] } = options;
  const child = spawn(program!, parameters, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const acknowledged = new Map<string, number>();
  let said = 0;
  let rest = "";
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const [id, version] = line.split(" ");
      acknowledged.set(id!, Math.max(Number(version), acknowledged.get(id!) ?? 0));
    }
    said += lines.length;
    if (said >= killAfter) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (...end) => resolve(end));
  });
  const wasKilled = signal === "SIGKILL";
  ok(wasKilled || code === 0, `the writing process ended with ${code ?? signal}: ${complaint}`);
  return { acknowledged, wasKilled };
}

/** Every second version of a handoff sets a setting in its commit to the number of the version. */
export function settingsAt(id: string, version: number): readonly SettingChange[] {
  const to = settingAfter(version);
  const from = settingAfter(version - 1);
  return from === to ? [] : [{ name: settingOf(id), from, to }];
}

function settingAfter(version: number): string | null {
  return version < 2 ? null : `${version - (version % 2)}`;
}

function settingOf(id: string): string {
  return `newest of ${id}`;
}

/** Everything acknowledged is there, and every other commit is complete or absent. */
export async function checkAfterCrash(
  store: Store,
  acknowledged: ReadonlyMap<string, number>,
): Promise<void> {
  const entries: LedgerEntry[] = [];
  for await (const entry of ledgerEntries(store)) entries.push(entry);
  const report = await verifyLedger(entries);
  equal(report.holds, true, report.holds ? "" : report.message);
  const halves = new Map<string, number>();
  for (const { handoffId } of entries) {
    if (handoffId !== null) halves.set(handoffId, (halves.get(handoffId) ?? 0) + 1);
  }
  for (const [id, count] of halves) {
    const handoff = await store.handoff(id);
    equal(count, 2 * (handoff?.version ?? 0), `${id} is half written`);
    equal(handoff?.record, `${id} ${handoff?.version}`, `${id} has another version's record`);
    const setting = (await store.setting(settingOf(id))) ?? null;
    equal(setting, settingAfter(handoff.version), `${id} has another version's setting`);
  }
  const due = await store.due(Number.MAX_SAFE_INTEGER, halves.size + 1);
  equal(due.length, halves.size, "not every handoff that is there is found");
  for (const [id, version] of acknowledged) {
    const there = (await store.handoff(id))?.version ?? 0;
    ok(there >= version, `version ${version} of ${id} was acknowledged, and ${there} is there`);
  }
}

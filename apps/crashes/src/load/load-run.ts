/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HubProcess } from "../connected/hub-process.ts";
import { Crowd } from "./crowd.ts";
import type { Tally } from "./crowd.ts";
import { judgeLeft } from "./judge.ts";
import type { Left } from "./judge.ts";
import { GROWTH_AT_MOST_MB, MemoryWatch } from "./memory.ts";
import type { Memory } from "./memory.ts";

export interface LoadPlan {
  readonly agents: number;
  readonly seconds: number;
  /** How often the hub is killed meanwhile, at equal intervals. */
  readonly kills: number;
}

export interface LoadReport {
  readonly plan: LoadPlan;
  readonly tally: Tally;
  readonly left: Left;
  readonly kills: number;
  readonly memory: Memory;
  readonly joinedInMs: number;
  readonly workedMs: number;
  readonly properties: readonly { readonly name: string; readonly problems: readonly string[] }[];
}

/** Agents on one hub in its own process, over a synced file, each handing off to random others. */
export async function runLoad(plan: LoadPlan, say: (line: string) => void): Promise<LoadReport> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-load-"));
  const hub = new HubProcess(folder);
  await hub.start();
  try {
    const beganAt = performance.now();
    const crowd = await Crowd.of(plan.agents, hub.url);
    const joinedInMs = Math.round(performance.now() - beganAt);
    say(`${plan.agents} agents are connected after ${joinedInMs} ms.`);
    const watch = new MemoryWatch(() => hub.url);
    const startedAt = performance.now();
    const until = Date.now() + plan.seconds * 1_000;
    const working = crowd.work(until);
    await killEvenly(hub, plan, until);
    const memory = await sleep(Math.max(0, until - Date.now())).then(() => watch.stop());
    await working;
    const workedMs = Math.round(performance.now() - startedAt);
    say(`${crowd.tally.completed} handoffs are completed after ${workedMs} ms.`);
    await crowd.leave();
    await hub.stop();
    const left = await judgeLeft(join(folder, "hub.db"));
    const { tally } = crowd;
    const facts = { plan, tally, left, kills: hub.kills, memory, joinedInMs, workedMs };
    return { ...facts, properties: propertiesOf(facts) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function killEvenly(hub: HubProcess, plan: LoadPlan, until: number): Promise<void> {
  const each = (plan.seconds * 1_000) / (plan.kills + 1);
  for (let left = plan.kills; left > 0; left--) {
    await sleep(Math.max(0, until - left * each - Date.now()));
    hub.restart();
  }
}

function propertiesOf({
  plan,
  tally,
  left,
  kills,
  memory,
}: Omit<LoadReport, "properties">): LoadReport["properties"] {
  const lost = [...tally.wrong];
  if (tally.completed !== tally.made) lost.push(`${tally.made - tally.completed} are missing`);
  if (left.handoffs !== tally.made) {
    lost.push(`${tally.made} were made, and ${left.handoffs} are on record`);
  }
  const grown: string[] = [];
  // A restarted process has no time to show whether it grows.
  if (plan.kills === 0 && memory.end > memory.half + GROWTH_AT_MOST_MB) {
    grown.push(`from ${memory.half} MB to ${memory.end} MB in the second half`);
  }
  return [
    { name: "nothing is lost", problems: lost },
    { name: "the history holds, and the chain verifies", problems: left.violations },
    { name: "memory stays flat", problems: grown },
    {
      name: "the hub was killed as often as planned",
      problems: kills === plan.kills ? [] : [`${kills} times`],
    },
  ];
}

export function linesOf(report: LoadReport): string[] {
  const { plan, tally, left, memory, joinedInMs, workedMs, kills } = report;
  const rate = Math.round(tally.completed / (workedMs / 1_000));
  return [
    `${plan.agents} agents, ${plan.seconds} s, ${kills} kills: ${tally.completed} of ${tally.made} handoffs completed, ${rate} a second; ${tally.worked - tally.made} repeated after a kill`,
    `all were connected after ${joinedInMs} ms; the ledger has ${left.entries} entries of ${left.handoffs} handoffs`,
    `the hub held on to ${memory.half} MB of heap about half time, and ${memory.end} MB towards the end`,
    `its process had, second by second, MB: ${memory.readings.join(" ")}`,
    ...report.properties.flatMap(({ name, problems }) => [
      `${problems.length === 0 ? "passed" : "FAILED"}: ${name}`,
      ...problems.slice(0, PROBLEMS_SHOWN).map((problem) => `  ${problem}`),
    ]),
  ];
}

const PROBLEMS_SHOWN = 10;

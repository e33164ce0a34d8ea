/// <reference types="node" />
// The parked graph of this package, killed again and again: `node src/crashes/crashes-fixture.ts --kills 20`.
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { faultsIn } from "./judge-fixture.ts";
import { killsFrom, runKilled } from "./run-fixture.ts";

/** Kills one process for each job, in its middle, and gives what is wrong afterwards. */
export async function tryKills(
  seed: number,
  count: number,
): Promise<{ readonly killed: number; readonly faults: readonly string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "waybill-parked-"));
  const kills = killsFrom(seed, count);
  const killed = await runKilled(folder, kills);
  const topics = kills.map(({ topic }) => topic);
  const faults = await faultsIn(folder, topics);
  await rm(folder, { recursive: true });
  return { killed, faults };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { kills: { type: "string", default: "20" }, seed: { type: "string" } },
  });
  const [count, seed] = [Number(values.kills), Number(values.seed ?? randomInt(2 ** 31))];
  console.log(`--kills ${count} --seed ${seed}`);
  const { killed, faults } = await tryKills(seed, count);
  for (const fault of faults) console.log(`FAIL ${fault}`);
  console.log(`${killed} of ${count} processes were killed before they were done`);
  console.log(`${Math.max(0, count - faults.length)} passed, ${faults.length} failed`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

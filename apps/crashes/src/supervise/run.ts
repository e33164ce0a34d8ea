/// <reference types="node" />
import { setTimeout as delay } from "node:timers/promises";
import { DELEGATOR, HUB, TOPOLOGIES } from "../plan/plan.ts";
import type { Plan } from "../plan/plan.ts";
import { folderAt } from "../process/folder.ts";
import { Charge } from "./charge.ts";
import type { Outage } from "./charge.ts";
import { Progress } from "./progress.ts";
import { Target } from "./target.ts";

export interface Course {
  /** One for each kill. */
  readonly outages: readonly Outage[];
  readonly repeatedEffects: number;
  /** Processes that ended without having been killed. */
  readonly falls: readonly string[];
  /** True if everything had ended before the processes were stopped. */
  readonly isOver: boolean;
  readonly failures: ReadonlyMap<string, number>;
}

/** Runs all handoffs of a plan through its kills. */
export async function runPlan(
  path: string,
  { seed, topology, tasks, kills }: Plan,
  say: (line: string) => void,
): Promise<Course> {
  const folder = folderAt(path);
  const progress = new Progress();
  const falls: string[] = [];
  const charges = new Map<string, Charge>();
  const target = new Target(folder);
  await target.open(folder);
  const start = async (name: string, module: string, ...given: string[]) => {
    const charge = new Charge({
      name,
      module: new URL(`../process/${module}.ts`, import.meta.url),
      given: [path, ...given],
      told: (told) => progress.take(told),
      fell: (message) => {
        say(message);
        falls.push(message);
        progress.giveUp();
      },
    });
    charges.set(name, charge);
    return progress.until(() => charge.isReady);
  };
  try {
    const { hubServes, recipients: apart } = TOPOLOGIES[topology];
    const recipients = apart.map((name) => start(name, "recipient", name));
    // A handoff for a capability without offers is refused, so the delegator starts last.
    await Promise.all([start(HUB, "hub", ...hubServes), ...recipients]);
    await start(DELEGATOR, "delegator", String(seed), String(tasks.length));
    let isOver = true;
    for (const kill of kills) {
      isOver &&= await progress.until(() => progress.ended >= kill.afterEnds);
      if (!isOver) break;
      await delay(kill.delayMs);
      say(`${progress.ended} of ${tasks.length} have ended; kill ${kill.target}`);
      await charges.get(kill.target)!.kill();
    }
    isOver &&= await progress.until(() => progress.isFinished);
    const hub = charges.get(HUB)!;
    isOver &&= await progress.until(() => hub.isReady);
    hub.send("drain");
    isOver &&= await progress.until(() => progress.isDrained);
    const outages = [...charges.values()].flatMap((charge) => charge.outages);
    const { failures } = progress;
    return { outages, repeatedEffects: target.repetitions, falls, isOver, failures };
  } finally {
    await Promise.all([...charges.values()].map((charge) => charge.end()));
    target.close();
  }
}

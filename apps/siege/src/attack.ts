/// <reference types="node" />
// One attack, in its own process. Started with its order as JSON; reports its outcomes, and ends.
import { setTimeout as sleep } from "node:timers/promises";
import { classNamed } from "./classes.ts";
import type { Origin } from "./origin.ts";
import { Attacker } from "./toolkit/attacker.ts";
import type { Place } from "./toolkit/place.ts";

export interface AttackOrder {
  readonly name: string;
  readonly origin: Origin;
  readonly seconds: number;
  readonly place: Place;
  readonly peerPort: number;
}

export interface AttackReport {
  readonly tally: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, string>>;
  /** A fault of the program itself. */
  readonly fault?: string;
}

export type FromAttack =
  | { readonly type: "begun" }
  | { readonly type: "ended"; readonly report: AttackReport };

/** An attack that does not notice the end of its time is abandoned. */
const GRACE_MS = 1_000;

process.once("disconnect", () => process.exit());
const order = JSON.parse(process.argv[2] ?? "") as AttackOrder;
const attack = classNamed(order.name);
const attacker = new Attacker(order);
process.send!({ type: "begun" } satisfies FromAttack);
let fault: string | undefined;
try {
  await Promise.race([
    attack.run(attacker),
    sleep(order.seconds * 1000 + GRACE_MS, undefined, { ref: false }),
  ]);
} catch (error) {
  if (!attacker.isOver) fault = (error as Error).stack ?? String(error);
}
const report: AttackReport = {
  tally: attacker.tally,
  reasons: attacker.reasons,
  ...(fault !== undefined && { fault }),
};
process.send!({ type: "ended", report } satisfies FromAttack, () => process.exit());

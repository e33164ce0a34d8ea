import { isEjected, NO_STATS, recordOutcome } from "@waybill/protocol/hub";
import type { Outcome, ReliabilityStats } from "@waybill/protocol/hub";
import { BoundedCache } from "@waybill/protocol/wire";
import type { Store } from "../store.ts";
import type { WriteBehindSettings } from "./write-behind-settings.ts";

const KEPT = 10_000;

/** The measured reliability of each agent, by capability. */
export class Measured {
  readonly #store: Pick<Store, "setting">;
  readonly #settings: WriteBehindSettings;
  readonly #stats = new BoundedCache<string, ReliabilityStats>(KEPT);

  constructor(store: Pick<Store, "setting">, settings: WriteBehindSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  async of(agent: string, capability: string): Promise<ReliabilityStats> {
    const name = nameOf(agent, capability);
    const known = this.#stats.get(name);
    if (known !== undefined) return known;
    const saved = await this.#store.setting(name);
    const stats =
      saved === undefined ? NO_STATS : { ...NO_STATS, ...(JSON.parse(saved) as ReliabilityStats) };
    const meanwhile = this.#stats.get(name);
    if (meanwhile !== undefined) return meanwhile;
    this.#stats.set(name, stats);
    return stats;
  }

  /** Whether it is in memory that the agent has done it before. */
  isProven(agent: string, capability: string): boolean {
    return (this.#stats.get(nameOf(agent, capability))?.successes ?? 0) > 0;
  }

  /** Returns whether this ended an ejection of the agent. */
  async record(agent: string, capability: string, outcome: Outcome): Promise<boolean> {
    const first = await this.of(agent, capability);
    const name = nameOf(agent, capability);
    const before = this.#stats.get(name) ?? first;
    const after = recordOutcome(before, outcome);
    if (after === before) return false;
    this.#stats.set(name, after);
    this.#settings.set(name, JSON.stringify(after));
    return isEjected(before, outcome.at) && !isEjected(after, outcome.at);
  }
}

function nameOf(agent: string, capability: string): string {
  return `reliability ${agent} ${capability}`;
}

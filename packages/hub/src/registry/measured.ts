import { NO_STATS, recordOutcome } from "@waybill/protocol";
import type { Outcome, ReliabilityStats } from "@waybill/protocol";
import type { Clock } from "../clock.ts";
import { Recent } from "../custody/recent.ts";
import type { Store } from "../store.ts";

const KEPT = 10_000;
const SAVE_AFTER_MS = 1_000;

/**
 * How each agent has kept its word, by capability. Written a moment later than it is learned: a
 * crash loses a few outcomes, and a commit for each would cost what custody costs.
 */
export class Measured {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #stats = new Recent<string, ReliabilityStats>(KEPT);
  readonly #unsaved = new Set<string>();
  #disarm: (() => void) | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async of(agent: string, capability: string): Promise<ReliabilityStats> {
    const name = nameOf(agent, capability);
    const known = this.#stats.get(name);
    if (known !== undefined) return known;
    const saved = await this.#store.setting(name);
    const stats = saved === undefined ? NO_STATS : (JSON.parse(saved) as ReliabilityStats);
    const meanwhile = this.#stats.get(name);
    if (meanwhile !== undefined) return meanwhile;
    this.#stats.set(name, stats);
    return stats;
  }

  async record(agent: string, capability: string, outcome: Outcome): Promise<void> {
    const before = await this.of(agent, capability);
    const name = nameOf(agent, capability);
    const after = recordOutcome(this.#stats.get(name) ?? before, outcome);
    if (after === before) return;
    this.#stats.set(name, after);
    this.#unsaved.add(name);
    this.#disarm ??= this.#clock.setTimer(this.#clock.now() + SAVE_AFTER_MS, () => {
      this.#disarm = undefined;
      // What can't be saved now is saved with the next outcome; nothing but a measurement is at stake.
      this.save().catch(() => undefined);
    });
  }

  async save(): Promise<void> {
    this.#disarm?.();
    this.#disarm = undefined;
    const names = [...this.#unsaved];
    this.#unsaved.clear();
    for (const name of names) {
      const stats = this.#stats.get(name);
      if (stats !== undefined) await this.#store.saveSetting(name, JSON.stringify(stats));
    }
  }
}

function nameOf(agent: string, capability: string): string {
  return `reliability ${agent} ${capability}`;
}

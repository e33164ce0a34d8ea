import type { Process } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** A delegator's own disk: its commitments, and the ends that it has seen. */
export class AgentDisk<Note> {
  /** By handoff. */
  readonly notes: Map<string, Note> = new Map();
  readonly #world: World;
  readonly #random: Random;
  readonly #crash: () => void;

  constructor(world: World, random: Random, crash: () => void) {
    this.#world = world;
    this.#random = random;
    this.#crash = crash;
  }

  /** Settles once the change is on disk; the process may crash before that, or right after. */
  write(process: Process, change: () => void): Promise<void> {
    return new Promise((resolve) => {
      const { disk } = this.#world.scenario;
      const crashes = this.#world.mayCrash(this.#random, disk.crashes / 2);
      const isBefore = this.#random.chance(0.5);
      process.after(this.#random.between(0, 2), () => {
        if (!crashes || !isBefore) change();
        if (crashes) this.#crash();
        else resolve();
      });
    });
  }
}

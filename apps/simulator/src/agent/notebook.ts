import type { Digest, HandoffEnvelope } from "@waybill/protocol";
import type { Process } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";

/** What a delegator has on its own disk about one handoff. */
export interface Note {
  readonly text: string;
  readonly digest: Digest;
  readonly envelope: HandoffEnvelope;
  hasReceipt: boolean;
  /** The end that its framework has committed. */
  ending: Digest | undefined;
  isAcknowledged: boolean;
}

/** A delegator's own disk: what it has committed to do, and what it has seen done. */
export class Notebook {
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

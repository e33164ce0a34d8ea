import { openHub } from "@waybill/hub";
import type { HubServer, Store } from "@waybill/hub";
import type { Random } from "../world/random.ts";
import { Process } from "../world/process.ts";
import type { WallClock } from "../world/process.ts";
import { keyOf } from "../world/world.ts";
import type { World } from "../world/world.ts";

export const HUB_ID = "hub";
export const DOMAIN: string = keyOf(HUB_ID).kid;
export const DEAD_LETTER_AGENT = "undertaker";

/** Where a hub runs, goes down and comes up again. */
export class HubSite {
  readonly name: string;
  readonly wall: WallClock = { offsetMs: 0 };
  /** The hub that answers here now. */
  hub: HubServer | undefined;
  process: Process | undefined;
  upSince = 0;
  readonly #world: World;
  readonly #random: Random;
  readonly #openStore: (process: Process) => Promise<Store>;
  readonly #onCrash: (site: HubSite) => void;
  readonly #watchers = new Set<() => void>();
  #starts = 0;

  constructor(
    name: string,
    world: World,
    openStore: (process: Process) => Promise<Store>,
    onCrash: (site: HubSite) => void,
  ) {
    this.name = name;
    this.#world = world;
    this.#random = world.random.stream(`${name} process`);
    this.#openStore = openStore;
    this.#onCrash = onCrash;
  }

  start(): void {
    if (this.process?.isAlive === true) return;
    const { scheduler, trace } = this.#world;
    const process = new Process(scheduler, this.wall, this.#random.stream(`ids ${this.#starts++}`));
    this.process = process;
    trace.note(`${this.name} starts`);
    this.#open(process).then(
      (hub) => {
        if (!process.isAlive) return;
        this.hub = hub;
        this.upSince = this.#world.now;
        trace.note(`${this.name} is up`);
      },
      (error: unknown) => {
        if (!process.isAlive) return;
        trace.note(`${this.name} does not open: ${String(error)}`);
        this.crash();
      },
    );
  }

  async #open(process: Process): Promise<HubServer> {
    const { scenario, trace } = this.#world;
    const chance = this.#random.stream(`choices ${this.#starts}`);
    return openHub({
      store: await this.#openStore(process),
      key: keyOf(HUB_ID),
      id: HUB_ID,
      clock: process.clock,
      newId: process.newId,
      newSalt: process.newSalt,
      random: () => chance.fraction(),
      terms: scenario.terms,
      ...(scenario.hasDeadLetterAgent ? { deadLetterAgent: DEAD_LETTER_AGENT } : {}),
      log: ({ event, handoffId, error }) => {
        if (event !== "failure" || !process.isAlive) return;
        trace.note(`${this.name} failure ${handoffId ?? ""} ${String(error)}`);
      },
    });
  }

  /** Notifies connected agents when the hub here goes down; returns a function that ends this. */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  /** Loses everything in memory; the supervisor starts the hub again. */
  crash(): void {
    if (this.process?.isAlive !== true) return;
    this.process.crash();
    this.wentDown();
  }

  /** Its process has crashed. */
  wentDown(): void {
    this.hub = undefined;
    this.#world.trace.note(`${this.name} is down`);
    const watchers = [...this.#watchers];
    for (const tell of watchers) tell();
    this.#watchers.clear();
    this.#onCrash(this);
  }
}

import type { Store } from "@waybill/hub";
import type { DiskCall, DiskFault, DiskOptions } from "../world/disk.ts";
import { Process } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { PlannedFault, World } from "../world/world.ts";
import { durableStore } from "./durable-store.ts";
import type { DurableStore } from "./durable-store.ts";
import { HubSite } from "./hub-site.ts";
import { linkTo } from "./store-link.ts";

/** How long after a stop of the store the operator starts it again. */
const NOTICED_AFTER_MS = 800;

/** One disk, the store on it, and one hub or two over that store. */
export class Cluster {
  readonly sites: readonly HubSite[];
  readonly disk: DurableStore;
  /** The open store without links, for observers. */
  store: Store | undefined;
  readonly #world: World;
  readonly #random: Random;
  /** The latest one. */
  #plannedFault: PlannedFault | undefined;
  #isAnswerLost = false;
  /** With several hubs, the store runs in its own process. */
  #storeProcess: Process | undefined;
  #shared: Promise<Store> | undefined;
  #links = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random.stream("cluster");
    const { hubs, storage } = world.scenario;
    const options: DiskOptions = {
      random: world.random.stream("disk"),
      faultOf: (call, process) => this.#faultOf(call, process),
      latencyMs: (call) => this.#latencyMs(call),
      crash: (process) => this.#crashOwner(process),
    };
    this.disk = durableStore(storage, options, world.scheduler);
    const open = (process: Process) =>
      hubs === 1 ? this.#openAlone(process) : this.#openLinked(process);
    this.sites = Array.from(
      { length: hubs },
      (_, index) => new HubSite(`hub-${index + 1}`, world, open, (site) => this.#onCrash(site)),
    );
  }

  start(): void {
    for (const site of this.sites) site.start();
  }

  get isUp(): boolean {
    return this.sites.every(({ hub }) => hub !== undefined);
  }

  async #openAlone(process: Process): Promise<Store> {
    const store = await this.disk.open(process);
    if (process.isAlive) this.store = store;
    return store;
  }

  async #openLinked(process: Process): Promise<Store> {
    if (this.#storeProcess?.isAlive !== true) {
      const wall = { offsetMs: 0 };
      this.#storeProcess = new Process(this.#world.scheduler, wall, this.#random);
      this.#shared = this.#openAlone(this.#storeProcess);
    }
    const random = this.#random.stream(`link ${this.#links++}`);
    return linkTo(await this.#shared!, {
      process,
      world: this.#world,
      random,
      losesAnswer: () => this.#losesAnswer(),
    });
  }

  #losesAnswer(): boolean {
    const isLost = this.#isAnswerLost;
    this.#isAnswerLost = false;
    return isLost;
  }

  /** A crash at a disk call kills the caller's process, and those that depend on it. */
  #crashOwner(process: Process): void {
    const { trace } = this.#world;
    process.crash();
    this.store = undefined;
    if (this.#plannedFault?.losesPower ?? this.#random.chance(0.5)) {
      trace.note("power fails");
      this.disk.losePower();
    }
    for (const site of this.sites) {
      // A single hub owns the disk itself, so its process is already dead.
      if (site.process === process) site.wentDown();
      else site.crash();
    }
  }

  #onCrash(site: HubSite): void {
    const { scheduler, isFaulty } = this.#world;
    if (this.#world.scenario.hubs === 1) this.store = undefined;
    const waitMs = isFaulty ? this.#random.spread(20, 8_000) : 500;
    scheduler.after(waitMs, () => site.start());
  }

  #faultOf(call: DiskCall, process: Process): DiskFault {
    const world = this.#world;
    const { crashes, errors } = world.scenario.disk;
    world.diskCalls++;
    const planned = world.faultPlan?.find((each) => each.call === world.diskCalls);
    if (planned !== undefined) {
      const { fault } = planned;
      this.#plannedFault = planned;
      world.trace.note(`disk ${call} ${fault}`);
      if (fault === "error") this.#restartLater(process);
      this.#isAnswerLost = fault === "answer_lost";
      return fault === "answer_lost" ? "none" : fault;
    }
    if (world.mayCrash(this.#random, crashes)) {
      world.crashes++;
      const fault = this.#random.pick(["crash_before", "crash_amid", "crash_after"] as const);
      world.trace.note(`disk ${call} ${fault}`);
      return fault;
    }
    if (!world.mayCrash(this.#random, errors)) return "none";
    world.crashes++;
    world.trace.note(`disk ${call} error`);
    this.#restartLater(process);
    return "error";
  }

  /** A store that can't continue reports it; the operator has to start it again. */
  #restartLater(process: Process): void {
    process.after(NOTICED_AFTER_MS, () => this.#crashOwner(process));
  }

  #latencyMs(call: DiskCall): number {
    const { syncMs } = this.#world.scenario.disk;
    if (call !== "sync") return this.#random.between(0, 1);
    return this.#random.chance(0.02) ? syncMs * 20 : this.#random.between(0, syncMs);
  }
}

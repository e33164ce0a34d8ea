import type { Capability, HandoffEnvelope, HandoffInput } from "@waybill/protocol";
import type { Cluster } from "../hub/cluster.ts";
import { Line } from "../hub/line.ts";
import { Process } from "../world/process.ts";
import type { WallClock } from "../world/process.ts";
import type { Random } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { Target } from "./target.ts";

export type Offered = Pick<Capability, "name" | "lease_seconds" | "max_attempts" | "from">;
export type Work = Omit<HandoffInput, "from" | "domain" | "notBefore"> & {
  /** How long it is held before it may start. */
  readonly startsInMs?: number;
};

export interface Ending {
  readonly isSuccess: boolean;
}

/** The side of an agent that hands work off and waits for the outcome. */
export interface Delegating {
  newId(): string;
  /** Commits to a handoff and submits it to the hub; undefined if the hub refuses it. */
  handOff(work: Work): Promise<HandoffEnvelope | undefined>;
  cancel(handoff: HandoffEnvelope): Promise<void>;
  /** Settles when the handoff has ended and its end is committed here. */
  endOf(handoffId: string): Promise<Ending>;
}

/** One run of an agent's process, with everything that it has in memory. */
export interface AgentProcess {
  readonly delegator: Delegating;
  readonly isAttached: boolean;
  begin(): Promise<void>;
}

export interface AgentOptions {
  readonly id: string;
  readonly world: World;
  readonly cluster: Cluster;
  readonly target: Target;
  readonly offers: readonly Offered[];
  readonly colleagues: readonly string[];
  readonly credit: number;
  /** Each piece of work takes this long and succeeds. By default both are random. */
  readonly worksForMs?: number;
}

/** What a run of an agent's process owns, and loses in a crash. */
export interface ProcessResources {
  readonly process: Process;
  readonly line: Line;
  readonly random: Random;
}

/** Creates the runs of one agent. The factory owns what survives them: the disk. */
export type AgentFactory = (resources: ProcessResources) => AgentProcess;

/** Where an agent runs, goes down and comes up again. */
export class AgentSite {
  readonly id: string;
  readonly wall: WallClock = { offsetMs: 0 };
  readonly credit: number;
  hasLeft = false;
  readonly #options: AgentOptions;
  readonly #random: Random;
  readonly #createProcess: AgentFactory;
  #current: (ProcessResources & { readonly agent: AgentProcess }) | undefined;
  #starts = 0;

  constructor(options: AgentOptions, factoryOf: (site: AgentSite) => AgentFactory) {
    const { id, world, credit } = options;
    this.id = id;
    this.credit = credit;
    this.#options = options;
    this.#random = world.random.stream(id);
    this.#createProcess = factoryOf(this);
  }

  /** The current run. */
  get delegator(): Delegating | undefined {
    return this.#current?.agent.delegator;
  }

  get isAttached(): boolean {
    return this.#current?.agent.isAttached === true;
  }

  start(): void {
    if (this.#current !== undefined || this.hasLeft) return;
    const { world, cluster } = this.#options;
    const random = this.#random.stream(`${this.id} run ${this.#starts++}`);
    const process = new Process(world.scheduler, this.wall, random);
    const line = new Line(world, cluster, process, random);
    const agent = this.#createProcess({ process, line, random });
    this.#current = { process, line, random, agent };
    world.trace.note(`${this.id} starts`);
    agent.begin().catch((error: unknown) => world.fault(error));
  }

  crash(): void {
    if (this.#current === undefined) return;
    const { process, line } = this.#current;
    const { world } = this.#options;
    world.trace.note(`${this.id} crashes`);
    world.crashes++;
    this.#current = undefined;
    process.crash();
    line.abandon();
    const waitMs = world.isFaulty ? this.#random.spread(20, 15_000) : 20;
    world.scheduler.after(waitMs, () => this.start());
  }

  leave(): void {
    this.hasLeft = true;
    this.crash();
  }
}

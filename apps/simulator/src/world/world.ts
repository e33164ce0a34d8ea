import { privateKeyFrom } from "@waybill/protocol";
import type { Digest, PrivateKey } from "@waybill/protocol";
import type { HistoryEntry } from "@waybill/protocol/audit";
import type { DiskFault } from "./disk.ts";
import { Random } from "./random.ts";
import { calmScenarioOf, scenarioOf } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";
import { Scheduler } from "./scheduler.ts";
import { STARTS_AT } from "./start.ts";
import { Trace } from "./trace.ts";

/** Restarts cost the most time, and a world in which nothing runs shows nothing. */
const CRASHES_AT_MOST = 14;

/** A receipt that an agent holds: what it names must never be lost. */
export interface HeldReceipt {
  readonly holder: string;
  readonly handoffId: string;
  readonly digest: Digest;
  readonly kind: string;
  readonly status: number;
  readonly text: string;
}

/** An attempt that a recipient was offered. */
export interface SeenOffer {
  readonly handoffId: string;
  readonly attempt: number;
  readonly agent: string;
}

/** Something observed outside the ledger, placed after the ledger's entries at that time. */
export interface Observation {
  readonly entry: HistoryEntry;
  after: number | undefined;
}

/** A promise that was seen broken while the world ran. */
export interface Breach {
  readonly rule: string;
  readonly handoffId: string;
  readonly message: string;
}

/** A disk call that fails in an otherwise calm world. */
export interface PlannedFault {
  /** Counted from 1. */
  readonly call: number;
  /** `answer_lost`: it is carried out, and a hub on another machine never learns of it. */
  readonly fault: Exclude<DiskFault, "none"> | "answer_lost";
  readonly losesPower: boolean;
}

export interface WorldOptions {
  readonly isTraced?: boolean | undefined;
  readonly faultPlan?: readonly PlannedFault[] | undefined;
  /** What is not left to the seed. */
  readonly scenario?: Partial<Scenario> | undefined;
}

/** What the parts of a simulation share. */
export class World {
  readonly seed: number;
  readonly random: Random;
  readonly scenario: Scenario;
  readonly scheduler: Scheduler = new Scheduler(STARTS_AT);
  readonly trace: Trace;
  readonly receipts: HeldReceipt[] = [];
  readonly offers: SeenOffer[] = [];
  readonly observations: Observation[] = [];
  readonly breaches: Breach[] = [];
  /** When an attempt last gave a sign of life, whether or not the hub received it. */
  readonly signsOfLife: Map<string, number> = new Map();
  /** The latest of all deadlines. */
  lastDeadline = 0;
  isFaulty = true;
  /** When a worker was restarted, and when all its work at that time had ended. */
  restart: { readonly at: number; readonly isOverAt: number } | undefined;
  crashes = 0;
  readonly faultPlan: readonly PlannedFault[] | undefined;
  /** How often the hubs' disk has been called. */
  diskCalls = 0;
  #ledgerLength: () => Promise<number | undefined> = () => Promise.resolve(undefined);

  constructor(seed: number, { isTraced = false, faultPlan, scenario }: WorldOptions) {
    this.seed = seed;
    this.random = new Random(seed);
    const random = this.random.stream("scenario");
    this.faultPlan = faultPlan;
    const seeded = faultPlan === undefined ? scenarioOf(random) : calmScenarioOf(random);
    this.scenario = { ...seeded, ...scenario };
    this.trace = new Trace(() => this.scheduler.now - STARTS_AT, isTraced);
  }

  get now(): number {
    return this.scheduler.now;
  }

  /** Decides whether something with this probability fails now. */
  fails(random: Random, share: number): boolean {
    return share > 0 && this.isFaulty && random.chance(share);
  }

  /** Decides whether something crashes now; true uses up one of this world's crashes. */
  mayCrash(random: Random, share: number): boolean {
    return this.crashes < CRASHES_AT_MOST && this.fails(random, share);
  }

  breach(rule: string, handoffId: string, message: string): void {
    this.trace.note(`BREACH ${rule} ${handoffId} ${message}`);
    this.breaches.push({ rule, handoffId, message });
  }

  /** The simulator itself, or the code under test, has thrown an unexpected error. */
  fault(error: unknown): void {
    this.breach("simulator", "", String((error as Error).stack));
  }

  readsLedgerLengthWith(read: () => Promise<number | undefined>): void {
    this.#ledgerLength = read;
  }

  /** Adds an observation to the history, after all current entries of the ledger. */
  observe(entry: HistoryEntry): void {
    this.observations.push({ entry, after: undefined });
    void this.placeObservations();
  }

  /** While the store is down, nothing can be placed; a later place is never wrong. */
  async placeObservations(): Promise<void> {
    const unplaced = this.observations.filter(({ after }) => after === undefined);
    const length = await this.#ledgerLength();
    if (length === undefined) return;
    for (const each of unplaced) each.after ??= length;
  }
}

const keys = new Map<string, PrivateKey>();

/** The same key for the same name in every world, because generating one takes longer than a handoff. */
export function keyOf(name: string): PrivateKey {
  let key = keys.get(name);
  if (key === undefined) {
    key = privateKeyFrom(new Random(0, `key of ${name}`).bytes(32));
    keys.set(name, key);
  }
  return key;
}

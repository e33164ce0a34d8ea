import { BoundedCache } from "@waybill/protocol/wire";

/** What one of those who queue has waiting. */
interface Flow<Job> {
  readonly name: string;
  readonly jobs: Job[];
  /** How much it had been given when its first job came to the front. */
  start: number;
}

const NAMES_KEPT = 10_000;

/**
 * A queue in which nobody waits for what another has piled up: next is always one of those who were
 * given the least (start-time fair queueing). Who comes back after a pause stands where the others are
 * by now: nothing is saved up.
 */
export class FairQueue<Job> {
  readonly #flows = new Map<string, Flow<Job>>();
  /** How much each had been given at its end. */
  readonly #given = new BoundedCache<string, number>(NAMES_KEPT);
  #now = 0;

  get isEmpty(): boolean {
    return this.#flows.size === 0;
  }

  push(name: string, job: Job): void {
    const flow = this.#flows.get(name);
    if (flow !== undefined) return void flow.jobs.push(job);
    this.#flows.set(name, { name, jobs: [job], start: this.#startOf(name) });
  }

  /** Puts a job before all others of its name, so that work under way is finished first. */
  pushFirst(name: string, job: Job): void {
    const flow = this.#flows.get(name);
    if (flow === undefined) this.push(name, job);
    else flow.jobs.unshift(job);
  }

  #startOf(name: string): number {
    return Math.max(this.#now, this.#given.get(name) ?? 0);
  }

  /** Takes the next job out; what it costs is to be charged to its name. */
  next(): { readonly name: string; readonly job: Job } | undefined {
    let first: Flow<Job> | undefined;
    for (const flow of this.#flows.values()) {
      if (first === undefined || flow.start < first.start) first = flow;
    }
    if (first === undefined) return undefined;
    this.#now = first.start;
    const { name } = first;
    const job = first.jobs.shift()!;
    if (first.jobs.length === 0) this.#flows.delete(name);
    return { name, job };
  }

  charge(name: string, cost: number): void {
    const start = this.#startOf(name);
    // What is done while nobody waits takes nothing from anybody.
    if (this.isEmpty) this.#now = start;
    const given = start + cost;
    this.#given.set(name, given);
    const flow = this.#flows.get(name);
    if (flow !== undefined) flow.start = given;
  }
}

import { BoundedCache } from "@waybill/protocol/wire";

/** The waiting jobs of one client. */
interface Flow<Job> {
  readonly name: string;
  readonly jobs: Job[];
  /** How much it had received when its first job came to the front. */
  start: number;
}

const NAMES_KEPT = 10_000;

/**
 * A queue in which no client waits for what another has piled up: the next job is from a client that
 * has received the least (start-time fair queueing). A client that returns after a pause continues at
 * the others' level: it earns no credit meanwhile.
 */
export class FairQueue<Job> {
  readonly #flows = new Map<string, Flow<Job>>();
  /** How much each client had received at its end. */
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

  /** Puts a job before all others of its client, so that work under way is finished first. */
  pushFirst(name: string, job: Job): void {
    const flow = this.#flows.get(name);
    if (flow === undefined) this.push(name, job);
    else flow.jobs.unshift(job);
  }

  #startOf(name: string): number {
    return Math.max(this.#now, this.#given.get(name) ?? 0);
  }

  /** Takes the next job out; its cost is to be charged to its client. */
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

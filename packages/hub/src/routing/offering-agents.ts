/** A set that can be read from any index on; removing costs the same however many there are. */
class Pool<Agent> {
  readonly #agents: Agent[] = [];
  readonly #indexes = new Map<Agent, number>();

  get size(): number {
    return this.#agents.length;
  }

  has(agent: Agent): boolean {
    return this.#indexes.has(agent);
  }

  add(agent: Agent): void {
    this.#indexes.set(agent, this.#agents.push(agent) - 1);
  }

  delete(agent: Agent): void {
    const index = this.#indexes.get(agent);
    if (index === undefined) return;
    this.#indexes.delete(agent);
    const last = this.#agents.pop()!;
    if (last === agent) return;
    this.#agents[index] = last;
    this.#indexes.set(last, index);
  }

  /** So many of them, each once, from an index on, which wraps around. */
  *from(start: number, most: number): Generator<Agent> {
    const { length } = this.#agents;
    for (let count = 0; count < Math.min(most, length); count++) {
      yield this.#agents[(start + count) % length]!;
    }
  }
}

/** Of those that are looked at, this part is kept for agents that have not proven themselves yet. */
const UNPROVEN_PART = 1 / 4;

/** The attached agents that offer one capability, by whether they have room and have proven themselves. */
export class OfferingAgents<Agent extends { readonly room: number }> {
  readonly #proven = new Pool<Agent>();
  readonly #others = new Pool<Agent>();
  readonly #busy = new Set<Agent>();

  /** How many have room. */
  get size(): number {
    return this.#proven.size + this.#others.size;
  }

  get busy(): ReadonlySet<Agent> {
    return this.#busy;
  }

  put(agent: Agent, isProven: boolean): void {
    const pool = agent.room === 0 ? this.#busy : isProven ? this.#proven : this.#others;
    if (pool.has(agent)) return;
    this.delete(agent);
    pool.add(agent);
  }

  delete(agent: Agent): void {
    this.#proven.delete(agent);
    this.#others.delete(agent);
    this.#busy.delete(agent);
  }

  /** So many of those with room, from an index on: first those who have proven themselves. */
  *withRoom(start: number, most: number): Generator<Agent> {
    const kept = Math.min(this.#others.size, Math.floor(most * UNPROVEN_PART));
    const proven = Math.min(this.#proven.size, most - kept);
    yield* this.#proven.from(start, proven);
    yield* this.#others.from(start, most - proven);
  }
}

import { WaybillError } from "@waybill/protocol";
import type { Budgets } from "../budgets.ts";
import { tooMany } from "./rates.ts";

/** How many expired proofs are forgotten for each new one, however many there are. */
const FORGOTTEN_AT_ONCE = 16;

/** The used proofs of one agent by id, in order of arrival, with their expiry. */
type Used = Map<string, number>;

/**
 * Remembers which proofs were used, so that an intercepted request can't be replayed. The cost of a
 * proof does not depend on how many others are remembered.
 */
export class UsedProofs {
  readonly #windowMs: number;
  readonly #budgets: Budgets;
  /** By agent, in the order in which expired proofs are looked for. */
  readonly #agents = new Map<string, Used>();
  #size = 0;

  constructor(clockSkewMs: number, budgets: Budgets) {
    // A proof from the far end of the allowed clock skew is valid until it is at the near end.
    this.#windowMs = 2 * clockSkewMs;
    this.#budgets = budgets;
  }

  get size(): number {
    return this.#size;
  }

  use(agent: string, id: string, now: number): void {
    const used = this.#agents.get(agent) ?? new Map<string, number>();
    this.#forget(used, now);
    if ((used.get(id) ?? 0) > now) {
      throw new WaybillError(
        401,
        "This proof was already used; sign every request separately, including retries.",
      );
    }
    this.#checkRoom(agent, used.size);
    if (used.delete(id)) this.#size--;
    used.set(id, now + this.#windowMs);
    this.#agents.set(agent, used);
    this.#size++;
    this.#sweep(now);
  }

  /** If the memory is full, agents that have used no more proofs than others are still admitted. */
  #checkRoom(agent: string, count: number): void {
    const { proofsPerAgent, proofsPerHub } = this.#budgets.limits;
    const isFull = this.#size >= proofsPerHub && count > this.#size / this.#agents.size;
    if (!isFull && count < proofsPerAgent) return;
    this.#budgets.hit(isFull ? "proofsPerHub" : "proofsPerAgent");
    throw tooMany(agent, this.#windowMs);
  }

  #forget(used: Used, now: number): void {
    let left = FORGOTTEN_AT_ONCE;
    for (const [id, until] of used) {
      if (until > now || left-- === 0) return;
      used.delete(id);
      this.#size--;
    }
  }

  /** Agents that ask no more take no memory. */
  #sweep(now: number): void {
    const [first] = this.#agents;
    const [agent, used] = first!;
    this.#forget(used, now);
    this.#agents.delete(agent);
    if (used.size > 0) this.#agents.set(agent, used);
  }
}

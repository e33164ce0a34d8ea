import { isAgentId, WaybillError } from "@waybill/protocol";
import type { CheckBudget } from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";
import { FairQueue } from "../fair-queue.ts";
import { leaveConcurrencySlot } from "../concurrency-slot.ts";

/** Steps that are done in one turn of the event loop: about 5 ms. A single check may exceed it. */
const STEPS_AT_ONCE = 500_000;
/** Up to this a query is no load: others may ask for as much at any time. */
const LITTLE = 20_000;
/** Roughly what one core does in a millisecond. */
const STEPS_PER_MS = 120_000;
/** After this much time in checks, everything else gets twice as long before they continue. */
const REST = 2;

/**
 * Checks inputs by schemas without blocking the hub. Checks get at most a third of the event loop:
 * after each turn of theirs it is free for twice as long. A client that asks for little does not wait
 * behind those that ask for much.
 */
export class SchemaChecks {
  readonly #clock: Clock;
  readonly #queue = new FairQueue<() => void>();
  #left = STEPS_AT_ONCE;
  /** How long that has taken by the clock: on a busy machine longer than the steps suggest. */
  #tookMs = 0;
  #isResting = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs checks that come in slices and share a budget, for the client `who`. */
  run<Value>(who: string, budget: CheckBudget, slices: Generator<void, Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const goOn = (): void => {
        const before = budget.stepsLeft;
        const since = this.#clock.now();
        try {
          // A job that ends without being done has used up its turn, or nobody would call it again.
          const most = Math.max(this.#left, LITTLE);
          for (let isFirst = true; isFirst || most > before - budget.stepsLeft;) {
            isFirst = false;
            const slice = slices.next();
            if (slice.done !== true) continue;
            isOver = true;
            return resolve(slice.value);
          }
          this.#putBack(who, goOn);
        } catch (error) {
          isOver = true;
          reject(WaybillError.from(error));
        } finally {
          const steps = before - budget.stepsLeft;
          if (steps >= LITTLE) {
            this.#left -= steps;
            this.#tookMs += this.#clock.now() - since;
          }
          this.#queue.charge(who, steps);
        }
      };
      if (this.#queue.isEmpty && this.#left > 0) goOn();
      else this.#queue.push(who, goOn);
      // A thousand costly checks would otherwise take all slots from cheap calls.
      if (!isOver) leaveConcurrencySlot();
      this.#rest();
    });
  }

  /**
   * An agent's check is finished before its next one begins: a thousand half-done checks would each
   * hold their intermediate results. Newcomers share one name that is no agent's, so their checks take
   * turns.
   */
  #putBack(who: string, goOn: () => void): void {
    if (isAgentId(who)) this.#queue.pushFirst(who, goOn);
    else this.#queue.push(who, goOn);
  }

  #rest(): void {
    if (this.#isResting || this.#left > 0) return;
    this.#isResting = true;
    const tookMs = Math.max(this.#tookMs, (STEPS_AT_ONCE - this.#left) / STEPS_PER_MS);
    const ms = Math.ceil(REST * tookMs);
    this.#clock.setTimer(this.#clock.now() + ms, () => {
      this.#isResting = false;
      this.#left = STEPS_AT_ONCE;
      this.#tookMs = 0;
      while (!this.#queue.isEmpty && this.#left > 0) this.#queue.next()!.job();
      this.#rest();
    });
  }
}

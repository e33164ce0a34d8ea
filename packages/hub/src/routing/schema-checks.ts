import { WaybillError } from "@waybill/protocol";
import type { CheckBudget } from "@waybill/protocol";
import type { Clock } from "../clock.ts";
import { FairQueue } from "../fair-queue.ts";

/** Steps that are done in one turn of the event loop: about 5 ms. A single check may go beyond. */
const STEPS_AT_ONCE = 500_000;
/** What takes no more than that is no load: others ask for as much all the time. */
const LITTLE = 20_000;
/** About what one core does in a millisecond. */
const STEPS_PER_MS = 120_000;
/** After checks that took so long, everything else has twice as long before they go on. */
const REST = 2;

/** How many checks may wait at a time. Checks that end at once never do. */
export interface CheckLimits {
  readonly checksPerAgent: number;
  readonly checksPerHub: number;
}

/** Whether somebody waits for the end of these checks, and can be told to come again instead. */
interface CheckOptions {
  readonly mayBeRefused?: boolean;
}

interface Waiting {
  /** Left out where it may not be refused. */
  readonly refuse: ((error: WaybillError) => void) | undefined;
}

/**
 * Holds inputs against schemas without holding up the hub. Checks get at most a third of the event
 * loop: after each turn of theirs it is free for twice as long. Whoever asks for little is not
 * behind those who ask for much. Each call that waits here keeps its place among the calls of the hub,
 * so the number of those is bounded.
 */
export class SchemaChecks {
  readonly #clock: Clock;
  readonly #limits: CheckLimits;
  readonly #queue = new FairQueue<() => void>();
  /** What waits, by who has asked, oldest first. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  #waitingCount = 0;
  #left = STEPS_AT_ONCE;
  /** How long that has taken by the clock: on a busy machine longer than the steps tell. */
  #tookMs = 0;
  #isResting = false;

  constructor(clock: Clock, limits: CheckLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Whether an agent has as many checks waiting as it may. */
  isFullFor(who: string): boolean {
    return (this.#waiting.get(who)?.size ?? 0) >= this.#limits.checksPerAgent;
  }

  /** Runs checks that come in slices and share a budget; `who` has asked for them. */
  run<Value>(
    who: string,
    budget: CheckBudget,
    slices: Generator<void, Value>,
    { mayBeRefused = false }: CheckOptions = {},
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (settle: () => void): void => {
        isOver = true;
        this.#leave(who, waiting);
        settle();
      };
      const refuse = (error: WaybillError) => end(() => reject(error));
      const waiting: Waiting = { refuse: mayBeRefused ? refuse : undefined };
      const goOn = (): void => {
        if (isOver) return;
        const before = budget.stepsLeft;
        const since = this.#clock.now();
        try {
          // Whoever ends without being done has used up the turn, or nobody would call it again.
          const most = Math.max(this.#left, LITTLE);
          for (let isFirst = true; isFirst || most > before - budget.stepsLeft;) {
            isFirst = false;
            const slice = slices.next();
            if (slice.done === true) return end(() => resolve(slice.value));
          }
          this.#wait(who, waiting, goOn);
        } catch (error) {
          end(() => reject(WaybillError.from(error)));
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
      else this.#wait(who, waiting, goOn);
      this.#rest();
    });
  }

  /** Where too much waits, whoever has the most of it loses what came last. */
  #wait(who: string, waiting: Waiting, goOn: () => void): void {
    this.#queue.push(who, goOn);
    const all = this.#waiting.get(who) ?? new Set<Waiting>();
    if (all.has(waiting)) return;
    if (waiting.refuse !== undefined && this.isFullFor(who)) {
      return waiting.refuse(tooManyChecks(who, all.size));
    }
    all.add(waiting);
    this.#waiting.set(who, all);
    if (++this.#waitingCount <= this.#limits.checksPerHub) return;
    const [heaviest, most] = [...this.#waiting].reduce((one, other) =>
      other[1].size > one[1].size ? other : one,
    );
    const last = [...most].findLast(({ refuse }) => refuse !== undefined);
    last?.refuse?.(tooManyChecks(heaviest, most.size));
  }

  #leave(who: string, waiting: Waiting): void {
    const all = this.#waiting.get(who);
    if (all?.delete(waiting) !== true) return;
    this.#waitingCount--;
    if (all.size === 0) this.#waiting.delete(who);
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

const AGAIN_AFTER_MS = 1_000;

function tooManyChecks(who: string, count: number): WaybillError {
  const whose = who === "" ? "of strangers" : `of ${who}`;
  return new WaybillError(
    301,
    `${count} calls ${whose} wait for their input to be checked by schemas, and this hub has no room for more. Try again in ${AGAIN_AFTER_MS} ms, with fewer at a time.`,
    { retryAfterMs: AGAIN_AFTER_MS },
  );
}

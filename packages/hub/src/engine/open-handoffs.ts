import { WaybillError } from "@waybill/protocol";
import { openBoxOf } from "../custody/handoff-record.ts";
import { BoundedCache } from "@waybill/protocol/wire";
import type { Store, StoredHandoff } from "../store.ts";

const PAGE = 500;
const DELEGATORS_KEPT = 10_000;
const TRY_AGAIN_AFTER_MS = 5_000;

interface Count {
  readonly ids: Set<string>;
  /** Handoffs that have ended during a read of the store, which may still show them as open. */
  readonly endedMeanwhile: Set<string>;
  isLoading: boolean;
  loaded: Promise<void>;
}

/**
 * Counts the open handoffs of each delegator. The count is read from the store at a delegator's first
 * handoff, then updated with every commit of any hub. Two hubs that take one at the same moment may let in
 * one too many.
 */
export class OpenHandoffs {
  readonly #store: Store;
  readonly #most: number;
  readonly #counts = new BoundedCache<string, Count>(DELEGATORS_KEPT);

  constructor(store: Store, most: number) {
    this.#store = store;
    this.#most = most;
  }

  /** Loads the counts of these delegators, if they are unknown. */
  async load(delegators: readonly string[]): Promise<void> {
    await Promise.all(delegators.map((delegator) => this.#countOf(delegator).loaded));
  }

  /** Whether the counts of these are loaded: with very many delegators, they may have been evicted. */
  isLoaded(delegators: readonly string[]): boolean {
    return delegators.every((delegator) => this.#counts.get(delegator)?.isLoading === false);
  }

  /** The number of open handoffs of these together, after loading. */
  countOf(delegators: readonly string[]): number {
    return delegators.reduce((sum, each) => sum + (this.#counts.get(each)?.ids.size ?? 0), 0);
  }

  /** Takes a place for a new handoff of a loaded delegator. Refused with 301: places are freed as handoffs end. */
  enter(delegator: string, id: string): void {
    const count = this.#countOf(delegator);
    if (count.ids.size >= this.#most && !count.ids.has(id)) {
      throw new WaybillError(
        301,
        `${delegator} has ${count.ids.size} open handoffs here, and the limit is ${this.#most}. Hand off again when some of them have ended.`,
        { retryAfterMs: TRY_AGAIN_AFTER_MS },
      );
    }
    count.ids.add(id);
  }

  leave(delegator: string, id: string): void {
    const count = this.#counts.get(delegator);
    if (count?.isLoading === true) count.endedMeanwhile.add(id);
    count?.ids.delete(id);
  }

  /** A commit, by any hub. */
  note({ id, delegator, state }: StoredHandoff): void {
    if (state === "open") this.#counts.get(delegator)?.ids.add(id);
    else this.leave(delegator, id);
  }

  #countOf(delegator: string): Count {
    let count = this.#counts.get(delegator);
    if (count === undefined) {
      count = {
        ids: new Set(),
        endedMeanwhile: new Set(),
        isLoading: true,
        loaded: Promise.resolve(),
      };
      this.#counts.set(delegator, count);
      count.loaded = this.#load(delegator, count);
    }
    return count;
  }

  async #load(delegator: string, count: Count): Promise<void> {
    try {
      for (let after: string | undefined; ;) {
        const page = await this.#store.inbox(openBoxOf(delegator), { after, limit: PAGE });
        for (const { id } of page) if (!count.endedMeanwhile.has(id)) count.ids.add(id);
        if (page.length < PAGE) break;
        after = page.at(-1)!.id;
      }
    } catch (error) {
      this.#counts.delete(delegator);
      throw error;
    }
    count.isLoading = false;
    count.endedMeanwhile.clear();
  }
}

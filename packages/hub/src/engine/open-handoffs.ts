import { WaybillError } from "@waybill/protocol";
import { openBoxOf, ownersOfStored } from "../custody/handoff-record.ts";
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
 * Counts the open handoffs of each owner: a delegator, or a principal for whom one acts. The count is
 * read from the store at an owner's first handoff, then updated with every commit of any hub. Two hubs that take one at the same moment may let in
 * one too many.
 */
export class OpenHandoffs {
  readonly #store: Store;
  readonly #most: number;
  readonly #counts = new BoundedCache<string, Count>(DELEGATORS_KEPT);
  /** The principals of counted handoffs, by the handoff: an ended one does not name it any more. */
  readonly #principals = new Map<string, string>();
  /** Counts of principals that are being read. */
  readonly #loading = new Set<Count>();

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
  countOf(owners: readonly string[]): number {
    const all = new Set(owners);
    // What an edge has open for a principal is among its own already.
    const apart = owners.filter((each) => !all.has(edgeOf(each) ?? ""));
    return apart.reduce((sum, each) => sum + (this.#counts.get(each)?.ids.size ?? 0), 0);
  }

  /** Takes a place for a new handoff of loaded owners. Refused with 301: places are freed as handoffs end. */
  enter(owners: readonly string[], id: string): void {
    for (const owner of owners) this.#checkRoom(owner, id);
    for (const owner of owners) this.#add(owner, id);
  }

  #checkRoom(owner: string, id: string): void {
    const count = this.#countOf(owner);
    if (count.ids.size >= this.#most && !count.ids.has(id)) {
      throw new WaybillError(
        301,
        `${owner} has ${count.ids.size} open handoffs here, and the limit is ${this.#most}. Hand off again when some of them have ended.`,
        { retryAfterMs: TRY_AGAIN_AFTER_MS },
      );
    }
  }

  leave(owners: readonly string[], id: string): void {
    for (const owner of owners) {
      const count = this.#counts.get(owner);
      if (count?.isLoading === true) count.endedMeanwhile.add(id);
      count?.ids.delete(id);
    }
    this.#principals.delete(id);
  }

  /** A commit, by any hub. */
  note(stored: StoredHandoff): void {
    const { id, delegator, state } = stored;
    if (state === "open") {
      for (const owner of ownersOfStored(stored)) {
        if (this.#counts.get(owner) !== undefined) this.#add(owner, id);
      }
      return;
    }
    const principal = this.#principals.get(id);
    if (principal === undefined) for (const count of this.#loading) count.endedMeanwhile.add(id);
    this.leave(principal === undefined ? [delegator] : [delegator, principal], id);
  }

  #add(owner: string, id: string): void {
    this.#countOf(owner).ids.add(id);
    if (edgeOf(owner) !== undefined) this.#principals.set(id, owner);
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
      if (edgeOf(delegator) !== undefined) this.#loading.add(count);
      count.loaded = this.#load(delegator, count).finally(() => this.#loading.delete(count!));
    }
    return count;
  }

  async #load(delegator: string, count: Count): Promise<void> {
    try {
      for (let after: string | undefined; ;) {
        const page = await this.#store.inbox(openBoxOf(delegator), { after, limit: PAGE });
        for (const { id } of page) {
          if (count.endedMeanwhile.has(id)) continue;
          count.ids.add(id);
          if (edgeOf(delegator) !== undefined) this.#principals.set(id, delegator);
        }
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

/** The agent that acts for a principal; undefined for an agent. */
function edgeOf(owner: string): string | undefined {
  const slash = owner.indexOf("/");
  return slash < 0 ? undefined : owner.slice(0, slash);
}

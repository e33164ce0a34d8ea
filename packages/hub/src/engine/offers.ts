import type { Clock } from "../clock.ts";
import type { Cases } from "../custody/cases.ts";
import { caseOf, targetOf } from "../custody/record.ts";
import type { HandoffRecord } from "../custody/record.ts";
import type { Draft } from "../custody/draft.ts";
import type { Attached } from "../routing/attached.ts";
import type { Router } from "../routing/router.ts";
import type { Page, Store, StoredHandoff, WaitingPlace } from "../store.ts";
import { firstOf, WaitingQueue } from "./waiting-queue.ts";

/** How many of those that wait are read at a time, of all targets of an agent together. */
const PAGE = 50;
const LEAST_PAGE = 4;
const PAUSE_AFTER_FAILURE_MS = 1_000;

export interface OffersOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly cases: Cases;
  readonly router: Router;
  readonly attached: ReadonlyMap<string, Attached>;
  readonly inBackground: (work: Promise<unknown>) => void;
}

/** Brings handoffs that are due and agents with room together. */
export class Offers {
  readonly #options: OffersOptions;
  /** Targets under which something may wait. What is not here, nobody has to ask the store for. */
  readonly #waitedFor = new Set<string>();
  readonly #pulling = new Map<Attached, "once" | "again">();
  /** How often work was looked for, and how often it had been when a draft was placed. */
  #pulls = 0;
  readonly #placedAfter = new WeakMap<Draft, number>();
  /** What was put behind others that wait, though there may be room for it. */
  readonly #queued = new WeakSet<Draft>();
  #pullsAt = Infinity;
  #isClosed = false;

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Something has begun to wait under this target. */
  noteWaiting(target: string | null): void {
    if (target !== null) this.#waitedFor.add(target);
  }

  /** A draft is on disk. Whoever has come while it was on its way there did not find it waiting. */
  settled(draft: Draft, { id, waitsFor }: StoredHandoff): void {
    this.noteWaiting(waitsFor);
    if (this.#queued.has(draft)) {
      for (const attached of this.#options.attached.values()) {
        if (attached.room > 0 || this.#pulling.has(attached)) this.pull(attached);
      }
    }
    const before = this.#placedAfter.get(draft);
    if (waitsFor === null || before === undefined || before === this.#pulls) return;
    const hasRoom = [...this.#options.attached.values()].some(({ room }) => room > 0);
    if (hasRoom) this.#options.inBackground(this.offerAgain(id));
  }

  /** Hands an agent what waits for it, as long as it has room. */
  pull(attached: Attached): void {
    this.#pulls++;
    if (this.#pulling.has(attached)) {
      this.#pulling.set(attached, "again");
      return;
    }
    this.#pulling.set(attached, "once");
    this.#options.inBackground(this.#pullAll(attached));
  }

  async #pullAll(attached: Attached): Promise<void> {
    try {
      do {
        this.#pulling.set(attached, "once");
        const targets = await this.#options.router.targetsOf(attached.agent);
        const waitedFor = targets.filter((target) => this.#waitedFor.has(target));
        if (waitedFor.length > 0) await this.#pullFrom(waitedFor, attached);
      } while (this.#pulling.get(attached) === "again" && attached.isOpen);
    } catch (error) {
      // What waits is still there, and nothing else may happen that would have it asked for.
      this.#pullAt(this.#options.clock.now() + PAUSE_AFTER_FAILURE_MS);
      throw error;
    } finally {
      // In the same turn as the last look: what is asked for after it must begin anew.
      this.#pulling.delete(attached);
    }
  }

  /** Everything that an agent could take may be waiting: it has just come. */
  async welcome(attached: Attached): Promise<void> {
    await this.#options.router.learn(attached);
    for (const target of await this.#options.router.targetsOf(attached.agent))
      this.#waitedFor.add(target);
    this.pull(attached);
  }

  /** What waits for it by its name and by its capabilities is one queue: the first of all is offered first. */
  async #pullFrom(targets: readonly string[], attached: Attached): Promise<void> {
    const limits = await this.#options.router.limitsOf(attached.agent);
    const isFull = (name: string) => attached.roomFor(name, limits.get(name)) === 0;
    const names = [...limits.keys()];
    const hasLimits = names.some((name) => limits.get(name) !== Infinity);
    const limit = Math.max(LEAST_PAGE, Math.floor(PAGE / targets.length));
    const queues = targets.map(
      (target) => new WaitingQueue(target, limit, (_, page) => this.#page(target, page)),
    );
    const mayTake = ({ capability }: WaitingQueue) =>
      capability === undefined ? names.length === 0 || !names.every(isFull) : !isFull(capability);
    while (attached.room > 0 && !this.#isClosed) {
      const first = await firstOf(queues.filter(mayTake));
      if (first === undefined) return;
      first.queue.takeOut();
      if (hasLimits && isFull(caseOf(first.stored).record.capability)) continue;
      await this.offerAgain(first.stored.id);
    }
  }

  async #page(target: string, page: Page<WaitingPlace>): Promise<readonly StoredHandoff[]> {
    if (page.after === undefined) this.#waitedFor.delete(target);
    try {
      const found = await this.#options.store.waiting(target, page);
      if (found.length > 0) this.#waitedFor.add(target);
      return found;
    } catch (error) {
      this.#waitedFor.add(target);
      throw error;
    }
  }

  async offerAgain(id: string): Promise<void> {
    await this.#options.cases.change(id, (draft) => {
      draft.wantsOffer = draft.record?.isWaiting === true;
    });
  }

  /** Plans the offer of what is due: to whoever the router picks, or to wait for somebody. */
  async place(draft: Draft): Promise<void> {
    const record = draft.record!;
    this.#placedAfter.set(draft, this.#pulls);
    if (this.#isOvertaking(draft)) {
      this.#queued.add(draft);
      draft.amend({ isWaiting: true });
      return;
    }
    const route = await this.#options.router.route(
      record,
      () => this.#options.cases.handoffOf(draft),
      draft.at,
    );
    if (route.type === "offer") {
      draft.decide({ type: "offer", recipient: route.to.agent });
    } else if (route.type === "nobody") {
      draft.decide({ type: "dead_letter", status: route.status });
    } else {
      if (!record.isWaiting) draft.amend({ isWaiting: true });
      if (route.until !== undefined) this.#pullAt(route.until);
    }
  }

  /** What has just come must not take the room that is being given to those who have waited. */
  #isOvertaking({ wantsOffer, record }: Draft): boolean {
    return !wantsOffer && this.#pulling.size > 0 && this.#waitedFor.has(targetOf(record!));
  }

  /** It waits since it was due by the clock of another hub, which is ahead of this one's. */
  waitUntilDue({ state: { nextAttemptAt } }: HandoffRecord, now: number): void {
    // What is past its deadline is not due either, and would be looked at in a circle until it ends.
    if (nextAttemptAt !== null && nextAttemptAt > now) this.#pullAt(nextAttemptAt);
  }

  #pullAt(at: number): void {
    if (at >= this.#pullsAt) return;
    this.#pullsAt = at;
    this.#options.clock.setTimer(at, () => {
      this.#pullsAt = Infinity;
      for (const attached of this.#options.attached.values()) this.pull(attached);
    });
  }
}

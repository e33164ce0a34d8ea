import type { WireEntry } from "@waybill/protocol/wire";
import { apply } from "./handoffs.ts";
import type { HandoffRow, Standing } from "./handoffs.ts";

/** What an entry has changed. */
export interface TakenEntry {
  readonly row: HandoffRow;
  /** Where it stood before; undefined if it is new. */
  readonly before: Standing | undefined;
}

/** The newest handoffs that the page has read, in the order in which they were handed off. */
export class HandoffRows {
  readonly #most: number;
  readonly #byId = new Map<string, HandoffRow>();
  /** Those before `#first` were dropped: their places are freed together. */
  #inOrder: (HandoffRow | undefined)[] = [];
  #first = 0;
  readonly #counts = new Map<Standing, number>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): HandoffRow | undefined {
    return this.#byId.get(id);
  }

  /** As they are now. */
  all(): readonly HandoffRow[] {
    return this.#inOrder.slice(this.#first) as HandoffRow[];
  }

  /** How many stand there: not counted anew, however many there are. */
  count(standing: Standing): number {
    return this.#counts.get(standing) ?? 0;
  }

  clear(): void {
    this.#byId.clear();
    this.#inOrder = [];
    this.#first = 0;
    this.#counts.clear();
  }

  /** Takes in an entry of the ledger; undefined if it is about none of these handoffs. */
  take(entry: WireEntry): TakenEntry | undefined {
    const { handoff_id: id } = entry;
    if (id === null) return undefined;
    const known = this.#byId.get(id);
    const before = known?.standing;
    const row = apply(known, entry);
    if (row === undefined) return undefined;
    if (known === undefined) {
      this.#byId.set(id, row);
      this.#inOrder.push(row);
      if (this.size > this.#most) this.#drop();
    }
    this.#move(before, row.standing);
    return { row, before };
  }

  #drop(): void {
    const { id, standing } = this.#inOrder[this.#first]!;
    this.#byId.delete(id);
    this.#move(standing, undefined);
    this.#inOrder[this.#first++] = undefined;
    if (this.#first < this.#most) return;
    this.#inOrder.splice(0, this.#first);
    this.#first = 0;
  }

  #move(from: Standing | undefined, to: Standing | undefined): void {
    if (from === to) return;
    if (from !== undefined) this.#counts.set(from, this.count(from) - 1);
    if (to !== undefined) this.#counts.set(to, this.count(to) + 1);
  }
}

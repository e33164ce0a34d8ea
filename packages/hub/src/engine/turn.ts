import type { Clock } from "@waybill/protocol/wire";
import type { CachedRecord, HandoffRecords, Written } from "../custody/handoff-records.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { Receipts } from "../custody/receipts.ts";

/** What is decided about one handoff, and not written yet. */
export interface Draft {
  readonly id: string;
  readonly before: CachedRecord | undefined;
  readonly transaction: HandoffTransaction;
}

interface Waiting extends Draft {
  resolve(written: Written | Promise<Written>): void;
  reject(error: unknown): void;
}

/**
 * The maximum that is written together. The store works on the first batch while the hub makes the
 * next, and other work gets the event loop in between.
 */
const WRITTEN_AT_ONCE = 32;

/**
 * The changes decided in one turn of the event loop are signed with one signature and given to the
 * store together. Each has its own outcome: a refusal or failure does not affect the others.
 */
export class Turn {
  readonly #records: Pick<HandoffRecords, "write">;
  readonly #receipts: Receipts;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];

  constructor(records: Pick<HandoffRecords, "write">, receipts: Receipts, clock: Clock) {
    this.#records = records;
    this.#receipts = receipts;
    this.#clock = clock;
  }

  /** Settles once its outcome is known. A change that is announced to nobody needs no signature. */
  commit(draft: Draft): Promise<Written> {
    const { id, before, transaction } = draft;
    if (transaction.taken === undefined) return this.#records.write(id, before, transaction);
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ ...draft, resolve, reject }) > 1) return;
      this.#clock.setTimer(this.#clock.now(), () => this.#end());
    });
  }

  #end(): void {
    const drafts = this.#waiting;
    this.#waiting = [];
    try {
      this.#confirm(drafts);
    } catch (error) {
      for (const { reject } of drafts) reject(error);
      return;
    }
    this.#write(drafts, 0);
  }

  #confirm(drafts: readonly Draft[]): void {
    const receipts = this.#receipts.sign(
      drafts.map(({ transaction }) => ({ of: transaction.taken!, status: 100 })),
    );
    drafts.forEach(({ transaction }, index) => transaction.confirm(receipts[index]!));
  }

  #write(drafts: readonly Waiting[], from: number): void {
    const end = Math.min(from + WRITTEN_AT_ONCE, drafts.length);
    for (let index = from; index < end; index++) {
      const { id, before, transaction, resolve } = drafts[index]!;
      resolve(this.#records.write(id, before, transaction));
    }
    if (end === drafts.length) return;
    this.#clock.setTimer(this.#clock.now(), () => this.#write(drafts, end));
  }
}

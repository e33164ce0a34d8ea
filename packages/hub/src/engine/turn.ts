import type { Clock } from "@waybill/protocol/wire";
import type { HandoffRecords, PendingCommit, Written } from "../custody/handoff-records.ts";
import type { Receipts } from "../custody/receipts.ts";

interface QueuedCommit extends PendingCommit {
  resolve(written: Written): void;
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
  #waiting: QueuedCommit[] = [];

  constructor(records: Pick<HandoffRecords, "write">, receipts: Receipts, clock: Clock) {
    this.#records = records;
    this.#receipts = receipts;
    this.#clock = clock;
  }

  /** Settles once its outcome is known. A change that is announced to nobody needs no signature. */
  async commit(pending: PendingCommit): Promise<Written> {
    if (pending.transaction.taken === undefined) return (await this.#records.write([pending]))[0]!;
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ ...pending, resolve, reject }) > 1) return;
      this.#clock.setTimer(this.#clock.now(), () => this.#end());
    });
  }

  #end(): void {
    const commits = this.#waiting;
    this.#waiting = [];
    try {
      this.#confirm(commits);
    } catch (error) {
      for (const { reject } of commits) reject(error);
      return;
    }
    this.#write(commits, 0);
  }

  #confirm(commits: readonly PendingCommit[]): void {
    const receipts = this.#receipts.sign(
      commits.map(({ transaction }) => ({ of: transaction.taken!, status: 100 })),
    );
    commits.forEach(({ transaction }, index) => transaction.confirm(receipts[index]!));
  }

  #write(commits: readonly QueuedCommit[], from: number): void {
    const end = Math.min(from + WRITTEN_AT_ONCE, commits.length);
    const group = commits.slice(from, end);
    this.#records.write(group).then(
      (written) => group.forEach(({ resolve }, index) => resolve(written[index]!)),
      (error: unknown) => group.forEach(({ reject }) => reject(error)),
    );
    if (end === commits.length) return;
    this.#clock.setTimer(this.#clock.now(), () => this.#write(commits, end));
  }
}

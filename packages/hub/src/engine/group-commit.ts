import type { Clock } from "@waybill/protocol/wire";
import { entryApart } from "../custody/entries.ts";
import type {
  HandoffRecords,
  PendingCommit,
  SharedReceipt,
  Written,
} from "../custody/handoff-records.ts";
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
 * The changes decided in one turn of the event loop are given to the store together, and their
 * receipts share a signature. Each change has its own outcome: a refusal or failure does not affect
 * the others.
 */
export class GroupCommit {
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
    if (pending.transaction.applied === undefined)
      return (await this.#records.write([pending]))[0]!;
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ ...pending, resolve, reject }) > 1) return;
      this.#clock.setTimer(this.#clock.now(), () => this.#end());
    });
  }

  #end(): void {
    const commits = this.#waiting;
    this.#waiting = [];
    this.#write(commits, 0);
  }

  /**
   * Signs the receipts: a lone one becomes part of its commit, and one for several envelopes is a
   * commit that depends on theirs.
   */
  #confirm(commits: readonly PendingCommit[]): readonly SharedReceipt[] {
    const shares = sharesOf(commits);
    const receipts = this.#receipts.sign(
      shares.map((share) => {
        const [of, ...also] = share.map(({ transaction }) => transaction.applied!);
        return { of: of!, also, status: 100 };
      }),
    );
    return shares.flatMap((of, index) => {
      const receipt = receipts[index]!;
      if (of.length > 1) return [{ of, receipt, entry: entryApart(this.#clock.now(), receipt) }];
      of[0]!.transaction.confirm(receipt);
      return [];
    });
  }

  #write(commits: readonly QueuedCommit[], from: number): void {
    const end = Math.min(from + WRITTEN_AT_ONCE, commits.length);
    const group = commits.slice(from, end);
    this.#records
      .write(group, (written) => this.#confirm(written))
      .then(
        (written) => group.forEach(({ resolve }, index) => resolve(written[index]!)),
        (error: unknown) => group.forEach(({ reject }) => reject(error)),
      );
    if (end === commits.length) return;
    this.#clock.setTimer(this.#clock.now(), () => this.#write(commits, end));
  }
}

/** What gets one receipt each: the envelopes of an agent that accepts one for several, or a single one. */
function sharesOf(commits: readonly PendingCommit[]): readonly (readonly PendingCommit[])[] {
  const shares = new Map<unknown, PendingCommit[]>();
  for (const commit of commits) {
    const key = commit.sharesReceipt === true ? commit.transaction.applied!.envelope.from : commit;
    const share = shares.get(key);
    if (share === undefined) shares.set(key, [commit]);
    else share.push(commit);
  }
  return [...shares.values()];
}

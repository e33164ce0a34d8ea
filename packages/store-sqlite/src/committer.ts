/// <reference types="node" />
import { Worker } from "node:worker_threads";
import type { CommitOutcome, LedgerHead } from "@waybill/hub/store";
import { packChanges } from "./packed-changes.ts";
import type { PackedChanges } from "./packed-changes.ts";
import type { Change, Writer } from "./writer.ts";

/** What the thread needs to start. */
export interface ThreadStart {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly bytesMax: number;
  readonly head: LedgerHead;
}

export type ToThread =
  | {
      readonly changes: PackedChanges;
      /** The end of the ledger; null while the thread is working, and knows better. */
      readonly head: LedgerHead | null;
    }
  | "close";

export interface FromThread {
  /** One result for each change, in order, once all of them are on disk. */
  readonly results: readonly (
    | { readonly outcome: CommitOutcome }
    | { readonly failure: { readonly message: string; readonly errcode: number | undefined } }
  )[];
  readonly head: LedgerHead;
}

interface QueuedChange {
  readonly change: Change;
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
}

// The same file beside this one, in the sources and in the published package.
const THREAD = new URL(`./writer-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** Enough for the thread to start with, while the hub prepares more. */
const SENT_AT_ONCE = 32;

/** So few changes, with nothing else under way, are committed faster here than by another thread. */
const INLINE_CHANGES_AT_MOST = 2;
/** After a time with more changes, more will follow: switching would cost both threads their caches. */
const BUSY_FOR_MS = 50;
/** After a slow commit the thread takes over, and this is tried again after a while. */
const SLOW_MS = 4;
const SLOW_FOR_MS = 1_000;
/** The primary result code is in the last byte; the bytes before it give details. */
const SQLITE_BUSY = 5;

/**
 * Commits changes in a thread of its own, those of one turn together, so that the hub goes on
 * meanwhile. A few changes with nothing else under way are committed at once. The two never write at
 * the same time.
 */
export class Committer {
  readonly #writer: Writer;
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  #waiting: QueuedChange[] = [];
  /** Sent and not answered yet, in the order of the answers. */
  readonly #sent: QueuedChange[] = [];
  /** Until when everything goes to the thread. */
  #handedUntil = 0;
  /** Why nothing is answered any more. */
  #failure: Error | undefined;

  constructor(start: ThreadStart, writer: Writer) {
    this.#writer = writer;
    this.#thread = new Worker(THREAD, {
      workerData: start,
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
    });
    this.#thread.on("message", (results: FromThread) => this.#settle(results));
    this.#thread.on("error", (error: Error) => this.#end(error));
    this.#ended = new Promise((resolve) => {
      this.#thread.on("exit", () => {
        this.#end(new Error("the writer thread has ended"));
        resolve();
      });
    });
    // Not earlier: a message listener keeps the process alive.
    this.#thread.unref();
  }

  write(change: Change): Promise<CommitOutcome> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const count = this.#waiting.push({ change, resolve, reject });
      if (count === SENT_AT_ONCE) this.#flush();
      else if (count === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length > 0 && !this.#committedInline(batch)) this.#send(batch);
  }

  /** False if the thread has to do it: it would take long, or another program has locked the file. */
  #committedInline(batch: readonly QueuedChange[]): boolean {
    const start = performance.now();
    const isLone = this.#sent.length === 0 && batch.length <= INLINE_CHANGES_AT_MOST;
    if (!isLone) this.#handedUntil = Math.max(this.#handedUntil, start + BUSY_FOR_MS);
    if (start < this.#handedUntil || this.#failure !== undefined) return false;
    const results = this.#writer.write(batch.map(({ change }) => change));
    if (performance.now() - start > SLOW_MS) this.#handedUntil = start + SLOW_FOR_MS;
    if (results.every(isBusy)) return false;
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index]!;
      if ("outcome" in result) resolve(result.outcome);
      else reject(result.error);
    });
    return true;
  }

  #send(batch: readonly QueuedChange[]): void {
    if (this.#failure !== undefined) {
      for (const { reject } of batch) reject(this.#failure);
      return;
    }
    try {
      const changes = packChanges(batch.map(({ change }) => change));
      const head = this.#sent.length === 0 ? this.#writer.head : null;
      this.#thread.postMessage({ changes, head } satisfies ToThread);
    } catch (error) {
      // A change that can't even be cloned must not fail the others.
      if (batch.length === 1) batch[0]!.reject(error);
      else for (const each of batch) this.#send([each]);
      return;
    }
    this.#sent.push(...batch);
    // A process does not exit while it waits for an answer.
    this.#thread.ref();
  }

  #settle({ results, head }: FromThread): void {
    this.#writer.head = head;
    const answered = this.#sent.splice(0, results.length);
    if (this.#sent.length === 0) this.#thread.unref();
    answered.forEach(({ resolve, reject }, index) => {
      const result = results[index]!;
      if ("outcome" in result) return resolve(result.outcome);
      const { message, errcode } = result.failure;
      reject(Object.assign(new Error(message), { errcode }));
    });
  }

  #end(reason: Error): void {
    this.#failure ??= reason;
    for (const { reject } of [...this.#sent.splice(0), ...this.#waiting.splice(0)]) {
      reject(this.#failure);
    }
  }

  /** Settles when everything submitted before is on disk and the thread has ended. */
  close(): Promise<void> {
    this.#flush();
    this.#thread.ref();
    this.#thread.postMessage("close" satisfies ToThread);
    return this.#ended;
  }
}

function isBusy(result: ReturnType<Writer["write"]>[number]): boolean {
  return (
    "error" in result && ((result.error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY
  );
}

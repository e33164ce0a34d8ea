/// <reference types="node" />
import { Worker } from "node:worker_threads";
import type { CommitOutcome, LedgerHead } from "@waybill/hub";
import type { Change } from "./writer.ts";

/** What the thread needs to begin. */
export interface ThreadStart {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly bytesMax: number;
  readonly head: LedgerHead;
}

export type ToThread = readonly Change[] | "close";

/** One for each change, in their order, once all of them are on the disk. */
export type FromThread = readonly (
  | { readonly outcome: CommitOutcome }
  | { readonly failure: { readonly message: string; readonly errcode: number | undefined } }
)[];

interface Waiting {
  readonly change: Change;
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
}

// The same file beside this one, in the sources and in what is published.
const THREAD = new URL(`./writer-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** Enough for the thread to begin with, while the hub is still at work on more. */
const SENT_AT_ONCE = 32;

/** Has changes made by a thread of its own, those that fall into one turn together. */
export class Committer {
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  #waiting: Waiting[] = [];
  /** Sent, and not answered yet, in the order of the answers. */
  readonly #sent: Waiting[] = [];
  /** Why nothing is answered any more. */
  #failure: Error | undefined;

  constructor(start: ThreadStart) {
    this.#thread = new Worker(THREAD, { workerData: start });
    this.#thread.unref();
    this.#thread.on("message", (results: FromThread) => this.#settle(results));
    this.#thread.on("error", (error: Error) => this.#end(error));
    this.#ended = new Promise((resolve) => {
      this.#thread.on("exit", () => {
        this.#end(new Error("the thread that writes has ended"));
        resolve();
      });
    });
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
    if (batch.length > 0) this.#send(batch);
  }

  #send(batch: readonly Waiting[]): void {
    if (this.#failure !== undefined) {
      for (const { reject } of batch) reject(this.#failure);
      return;
    }
    try {
      this.#thread.postMessage(batch.map(({ change }) => change) satisfies ToThread);
    } catch (error) {
      // One that can't even be copied must not take the others with it.
      if (batch.length === 1) batch[0]!.reject(error);
      else for (const each of batch) this.#send([each]);
      return;
    }
    this.#sent.push(...batch);
    // A process does not end by itself while it is owed an answer.
    this.#thread.ref();
  }

  #settle(results: FromThread): void {
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

  /** Settles when what was given before is on the disk and the thread is gone. */
  close(): Promise<void> {
    this.#flush();
    this.#thread.ref();
    this.#thread.postMessage("close" satisfies ToThread);
    return this.#ended;
  }
}

/// <reference types="node" />
import { Worker } from "node:worker_threads";
import type { Place } from "./log/place.ts";

/** What the thread needs to start. */
export interface IndexerStart {
  readonly path: string;
  readonly folder: string;
  readonly busyTimeoutMs: number;
  readonly bytesMax: number;
  /** Up to where the index goes. */
  readonly place: Place;
}

export type ToIndexer =
  | {
      /** The end of what is on disk, if it has changed. */
      readonly until?: Place;
      readonly isUrgent: boolean;
    }
  | "close";

export type FromIndexer =
  | { readonly frame: number }
  | { readonly failure: { readonly message: string; readonly errcode: number | undefined } };

// The same file beside this one, in the sources and in the published package.
const THREAD = new URL(`./indexer-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** So much that is not indexed is kept in memory; then commits wait for the index. */
const BEHIND_BYTES_MAX = 16 * 1024 * 1024;
/** The primary result code is in the last byte. */
const SQLITE_BUSY = 5;

/** Follows the log with the index. */
export interface IndexFollower {
  /** Tells where the log ends on disk. */
  follow(until: Place): void;
  /** Settles when everything on disk by now is in the index; rejects if it can't be written there. */
  caughtUp(): Promise<void>;
  /** Settles when the next commit may be made. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface IndexWaiter {
  readonly frame: number;
  resolve(): void;
  reject(error: Error): void;
}

/** Lets a thread of its own follow the log with the index. */
export class Indexer implements IndexFollower {
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  readonly #onIndexed: (frame: number) => void;
  #indexed: number;
  #until: number;
  /** The lengths of the frames that are not indexed, by their numbers. */
  readonly #behind = new Map<number, number>();
  #behindBytes = 0;
  #waiting: IndexWaiter[] = [];
  /** Why the index does not follow. */
  #failure: Error | undefined;
  #hasEnded = false;
  #isClosing = false;

  constructor(start: IndexerStart, onIndexed: (frame: number) => void) {
    this.#onIndexed = onIndexed;
    this.#indexed = start.place.frame;
    this.#until = start.place.frame;
    this.#thread = new Worker(THREAD, {
      workerData: start,
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
    });
    this.#thread.on("message", (message: FromIndexer) => this.#receive(message));
    this.#thread.on("error", (error: Error) => this.#fail(error));
    this.#ended = new Promise((resolve) => {
      this.#thread.on("exit", () => {
        this.#hasEnded = true;
        this.#fail(new Error("the thread of the index has ended"));
        resolve();
      });
    });
    // Not earlier: a message listener keeps the process alive.
    this.#thread.unref();
  }

  follow(until: Place): void {
    this.#until = until.frame;
    const bytes = until.position - until.last;
    this.#behind.set(until.frame, bytes);
    this.#behindBytes += bytes;
    this.#thread.postMessage({ until, isUrgent: false } satisfies ToIndexer);
  }

  caughtUp(): Promise<void> {
    if (this.#indexed >= this.#until) return Promise.resolve();
    if (this.#hasEnded) return Promise.reject(this.#failure!);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ frame: this.#until, resolve, reject });
      this.#thread.ref();
      this.#thread.postMessage({ isUrgent: true } satisfies ToIndexer);
    });
  }

  /** The memory for what is not indexed has a limit. */
  async ready(): Promise<void> {
    if (this.#failure !== undefined || this.#behindBytes >= BEHIND_BYTES_MAX) {
      await this.caughtUp();
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#thread.ref();
    this.#thread.postMessage("close" satisfies ToIndexer);
    await this.#ended;
  }

  #receive(message: FromIndexer): void {
    if ("failure" in message) {
      const { message: text, errcode } = message.failure;
      return this.#fail(Object.assign(new Error(text), { errcode }));
    }
    this.#failure = undefined;
    this.#indexed = message.frame;
    for (const [frame, bytes] of this.#behind) {
      if (frame > message.frame) break;
      this.#behind.delete(frame);
      this.#behindBytes -= bytes;
    }
    this.#onIndexed(message.frame);
    const isThere = ({ frame }: IndexWaiter) => frame <= message.frame;
    const there = this.#waiting.filter(isThere);
    this.#waiting = this.#waiting.filter((each) => !isThere(each));
    this.#rest();
    for (const { resolve } of there) resolve();
  }

  #fail(error: Error): void {
    // Another program that has locked the file for a while holds up nothing but listings.
    const isBusy = ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
    if (!isBusy) this.#failure = error;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#rest();
    for (const { reject } of waiting) reject(error);
  }

  #rest(): void {
    if (this.#waiting.length === 0 && !this.#isClosing) this.#thread.unref();
  }
}

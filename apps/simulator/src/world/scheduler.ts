/// <reference types="node" />

/** The maximum of events at one moment; more means an endless loop. */
const AT_ONE_MOMENT = 50_000;

/**
 * After each of Node's immediates every promise proceeds that can, and many immediates in one round
 * of the event loop are much cheaper than a round for each.
 */
const TURNS_AT_MOST = 64;

/** The world is busy without progress. */
export class Livelock extends Error {
  override readonly name = "Livelock";
}

interface Task {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Settles when every promise has proceeded that can do so without the outside. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Virtual time: events in the order of their times, and then of their creation. */
export class Scheduler {
  #now: number;
  #order = 0;
  #count = 0;
  #heap: Task[] = [];

  constructor(startsAt: number) {
    this.#now = startsAt;
  }

  get now(): number {
    return this.#now;
  }

  /** Runs it after this many milliseconds; returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const task: Task = { at: this.#now + Math.max(0, Math.round(ms)), order: this.#order++, run };
    this.#push(task);
    return () => (task.run = undefined);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Lets time pass up to `end`. */
  runUntil(end: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const turn = () => {
        if (isOver) return;
        try {
          isOver = !this.#runNext(end);
          if (isOver) resolve();
        } catch (error) {
          isOver = true;
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const round = (turns: number) => {
        for (let count = 1; count < turns; count++) setImmediate(turn);
        setImmediate(() => {
          turn();
          if (!isOver) round(Math.min(2 * turns, TURNS_AT_MOST));
        });
      };
      round(1);
    });
  }

  /** Everything that it triggers runs before the next event; false if nothing is due until `end`. */
  #runNext(end: number): boolean {
    let next = this.#heap[0];
    for (; next !== undefined && next.run === undefined; next = this.#heap[0]) this.#pop();
    if (next === undefined || next.at > end) {
      this.#now = Math.max(this.#now, end);
      return false;
    }
    this.#pop();
    this.#count = next.at > this.#now ? 0 : this.#count + 1;
    if (this.#count > AT_ONE_MOMENT) {
      throw new Livelock(
        `After ${AT_ONE_MOMENT} events no time has passed, and still more follow.`,
      );
    }
    this.#now = next.at;
    next.run!();
    return true;
  }

  /** The outcome of a promise, after letting up to this much time pass; undefined if that is too little. */
  async outcomeOf<Value>(work: Promise<Value>, withinMs: number): Promise<Value | undefined> {
    let settled: { readonly value: Value | undefined } | undefined;
    work.then(
      (value) => (settled = { value }),
      () => (settled = { value: undefined }),
    );
    await drainMicrotasks();
    for (const end = this.#now + withinMs; settled === undefined && this.#now < end;) {
      await this.runUntil(this.#now + 1);
    }
    return settled?.value;
  }

  #push(task: Task): void {
    const heap = this.#heap;
    let index = heap.push(task) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (isBefore(heap[parent]!, task)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = task;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    const { length } = heap;
    if (length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/// <reference types="node" />

/** So much may happen at one moment; beyond, something goes round in a circle. */
const AT_ONE_MOMENT = 50_000;

/**
 * After each of Node's immediates every promise goes on that can, and many of them in one round of
 * its event loop are much cheaper than a round for each.
 */
const TURNS_AT_MOST = 64;

/** The world is busy for ever and gets nowhere. */
export class Livelock extends Error {
  override readonly name = "Livelock";
}

interface Task {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Settles when every promise that can go on without the outside has gone on. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Virtual time: what is to happen, in the order of its times, and then of its making. */
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

  /** Runs it in so many milliseconds; gives what takes that back. */
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

  /** Whatever it sets off goes on before the next; false when nothing is due until `end`. */
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

  /** What a promise comes to, letting so much time pass for it; undefined where that is too little. */
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

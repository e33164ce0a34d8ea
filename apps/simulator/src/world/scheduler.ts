/// <reference types="node" />

interface Task {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Settles when every promise that can go on without the outside has gone on. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Virtual time: what is to happen, in the order of its times, and then of its making. */
export class Scheduler {
  #now: number;
  #order = 0;
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
  async runUntil(end: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop();
      if (next.run === undefined) continue;
      this.#now = next.at;
      next.run();
      await quiet();
    }
    this.#now = Math.max(this.#now, end);
  }

  /** Lets what has begun go on without any time passing. */
  async settle(): Promise<void> {
    await quiet();
    await this.runUntil(this.#now);
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

/** Serializes runs by name. Names without runs take no memory. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` after everything that came before it under this name; rejects if the signal fires first. */
  async run<Value>(name: string, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const before = this.#last.get(name);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    // A run that gives up before its turn leaves the next one waiting for the same predecessor.
    const mine = Promise.all([before, ended]).then(() => undefined);
    this.#last.set(name, mine);
    try {
      if (before !== undefined) await until(before, signal);
      signal.throwIfAborted();
      return await work();
    } finally {
      end();
      void mine.then(() => {
        if (this.#last.get(name) === mine) this.#last.delete(name);
      });
    }
  }
}

async function until(before: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
  const fired = () => abort();
  signal.addEventListener("abort", fired, { once: true });
  if (signal.aborted) fired();
  try {
    await Promise.race([before, aborted]);
  } finally {
    signal.removeEventListener("abort", fired);
  }
}

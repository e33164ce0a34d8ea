/** One side of the comparison: who hands off, who does it, and whatever is between them. */
export interface Lane {
  /** Has one task done and checks what came back. */
  doOne(index: number): Promise<void>;
  /** Settles when nothing of the tasks that are done is left to do. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Does `operations` tasks and begins the next one whenever one is done: so many are under way. */
export async function inFlight(
  lane: Lane,
  operations: number,
  width: number,
  onDone?: (ms: number) => void,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < operations) {
      const start = performance.now();
      await lane.doOne(next++);
      onDone?.(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, operations) }, worker));
  await lane.settle();
}

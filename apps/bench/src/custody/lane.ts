/** One side of the comparison: the delegator, the recipient, and everything between them. */
export interface Lane {
  /** Runs one task and checks its result. */
  doOne(index: number): Promise<void>;
  /** Settles when the finished tasks have nothing left to do. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Runs `operations` tasks, and keeps a fixed number of them in flight. */
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

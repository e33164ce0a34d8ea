import { memoryProcess } from "./memory-fixture.ts";
import type { DurableStoreSubject, StoreCase } from "./subject.ts";
import { storeSuite } from "./suite.ts";

export function casesFor(
  open: () => Promise<DurableStoreSubject>,
  module: URL = memoryProcess.module,
): StoreCase[] {
  return storeSuite({ isDurable: true, open, process: { ...memoryProcess, module } });
}

export async function failing(cases: readonly StoreCase[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of cases) {
    try {
      await run();
    } catch {
      names.push(name);
    }
  }
  return names;
}

import { storeSuite } from "@waybill/conformance";
import { ledgerEntries, memoryStore } from "@waybill/hub";
import type { LedgerEntry, StoredHandoff } from "@waybill/hub/store";

const suite = storeSuite({
  isDurable: false,
  async open() {
    const store = memoryStore();
    return { store, observe, dispose: () => store.close() };

    // This store can't be read in any other way, so this reads it through its own interface.
    async function observe() {
      const entries: LedgerEntry[] = [];
      const handoffs = new Map<string, StoredHandoff>();
      for await (const entry of ledgerEntries(store)) {
        entries.push(entry);
        const handoff = await store.handoff(entry.handoffId ?? "");
        if (handoff !== undefined) handoffs.set(handoff.id, handoff);
      }
      return { handoffs: [...handoffs.values()], entries };
    }
  },
});

for (const { name, run } of suite) await run().then(() => console.log(`passed: ${name}`));

import { memoryStore } from "@waybill/hub";
import { describeStore } from "../vitest.ts";
import { contentsOf, memoryProcess, openMemorySubject } from "./memory-fixture.ts";

describeStore("memory", {
  isDurable: false,
  async open() {
    const store = memoryStore();
    return { store, observe: () => contentsOf(store), dispose: () => store.close() };
  },
});

describeStore("memory with a journal", {
  isDurable: true,
  open: () => openMemorySubject(),
  process: memoryProcess,
});

import { storeSuite } from "@waybill/conformance";
import { describe, test } from "vitest";
import { locate, openSubject, remove } from "./store-fixture.ts";

const module = new URL("./store-fixture.ts", import.meta.url);
const open = { isDurable: true, open: openSubject } as const;
const usual = new Set(
  storeSuite({ ...open, process: { module, locate, remove } }).map(({ name }) => name),
);

// For each system call that writes, a process is started and killed: the only case that takes minutes.
const systemCalls = ["pwrite64", "fsync", "fdatasync", "ftruncate"];
describe("sqlite", () => {
  const all = storeSuite({ ...open, process: { module, locate, remove, systemCalls } });
  for (const { name, skip: reason, timeoutMs, run } of all) {
    if (usual.has(name)) continue;
    test(name, { timeout: timeoutMs }, async ({ skip }) => {
      skip(reason !== undefined, reason);
      await run();
    });
  }
});

/// <reference types="node" />
// Reports which promises the history of a hub breaks, and what is still open. Started with the hub's
// folder.
import process from "node:process";
import { join } from "node:path";
import { ledgerHistory } from "@waybill/hub";
import { checkHistory } from "@waybill/protocol/audit";
import type { HistoryEntry } from "@waybill/protocol/audit";
import { openSqliteStore } from "@waybill/store-sqlite";

const [folder = ""] = process.argv.slice(2);
const store = await openSqliteStore(join(folder, "hub.db"));
const entries: HistoryEntry[] = [];
for await (const entry of ledgerHistory(store)) entries.push(entry);
const { violations } = checkHistory(entries, { isComplete: true, hub: "hub" });
const handoffs = entries.filter(
  (entry) => entry.type === "envelope" && entry.envelope.kind === "handoff",
);
console.log(JSON.stringify({ entries: entries.length, handoffs: handoffs.length, violations }));
await store.close();

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportLedger, verifyLedger, ledgerEntries } from "@waybill/hub";
import { openSqliteStore } from "@waybill/store-sqlite";

const folder = mkdtempSync(join(tmpdir(), "waybill-"));
const store = await openSqliteStore(join(folder, "hub.db"));

// A hub works on it from here on: openHub({ store, key }).
await store.saveSetting("greeting", "kept when the process is killed");

console.log(await verifyLedger(ledgerEntries(store)));
for await (const line of exportLedger(store)) process.stdout.write(line);

await store.backup(join(folder, "backup.db"));
await store.close();

import { setTimeout } from "node:timers/promises";
import { exportLedger, ledgerEntries, memoryStore, openHub, verifyLedger } from "@waybill/hub";
import { createHandoff, generateKey, newId, signEnvelope, signManifest } from "@waybill/protocol";

const store = memoryStore();
const hub = await openHub({ store });

// Each participant publishes a manifest. Agents made with @waybill/agent do this at start.
const keys = { anna: generateKey(), bert: generateKey() };
await hub.publish(signManifest({ agent_id: "anna", capabilities: [] }, keys.anna));
const translate = { name: "translate", input_schema: { text: "string" } };
await hub.publish(signManifest({ agent_id: "bert", capabilities: [translate] }, keys.bert));

// Anna hands off to Bert, who is not there. The hub signs for it once it is on disk.
const body = { capability: "translate", input: { text: "Frachtbrief" } };
const handoff = createHandoff(
  { from: "anna", domain: hub.domain, to: "bert", body, timeoutMs: 200 },
  { now: Date.now, newId },
);
await hub.submit(signEnvelope(handoff, keys.anna));
const view = await hub.handoff(handoff.handoff_id, "anna");
console.log(`${view?.state}, ${view?.attempts.length} attempts`);

// Nobody takes it before its deadline: it is a dead letter, with everything that is known about it.
while ((await hub.deadLetters.list({ limit: 1 })).length === 0) await setTimeout(20);
for (const { id, status } of await hub.deadLetters.list({ limit: 10 })) {
  const { entries } = await hub.deadLetters.show(id);
  console.log(`${status}, ${entries.length} entries on record`);
  await hub.deadLetters.discard(id, { reason: "an example" });
}
await hub.close();

// The ledger is in the store: its chain can be checked, and its lines read by other tools.
const { holds } = await verifyLedger(ledgerEntries(store));
const lines = await Array.fromAsync(exportLedger(store));
console.log(`the ledger ${holds ? "holds" : "was changed"}, ${lines.length} lines`);

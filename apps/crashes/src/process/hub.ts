/// <reference types="node" />
import { loadKey } from "@waybill/agent";
import { openHub } from "@waybill/hub";
import { openSqliteStore } from "@waybill/store-sqlite";
import { serveHub } from "../line/near-hub.ts";
import { HUB } from "../plan/plan.ts";
import { beginLife, loggerOf } from "./life.ts";
import { startRecipient } from "./start-recipient.ts";

/** Short, so that a run of minutes sees every timer of the lifecycle. */
const TERMS = { offerMs: 1_500, graceMs: 1_500, backoffMs: 50, backoffCapMs: 1_000 } as const;

const life = beginLife();
const { folder, tell } = life;
const store = await openSqliteStore(folder.store);
const key = await loadKey(folder.key(HUB));
const hub = await openHub({ store, key, id: HUB, terms: TERMS, log: loggerOf(life) });
await serveHub(folder.hubSocket, hub);
// Recipients that run in this process, and die with it.
for (const name of life.given) await startRecipient(life, name, hub);
tell({ type: "ready" });

process.on("message", () => {
  const look = async () => {
    // Every open handoff has at least its deadline timer.
    if ((await store.nextWakeAt()) === null) tell({ type: "drained" });
  };
  store.onCommit(() => void look());
  void look();
});

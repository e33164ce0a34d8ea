/// <reference types="node" />
import { loadKey } from "@waybill/agent";
import { openHub } from "@waybill/hub";
import { openSqliteStore } from "@waybill/store-sqlite";
import { serveHub } from "../line/near-hub.ts";
import { HUB } from "../plan/plan.ts";
import { beginLife, failureOf } from "./life.ts";

/** Short, so that a run of minutes sees every timer of the lifecycle. */
const TERMS = { offerMs: 1_500, graceMs: 1_500, backoffMs: 50, backoffCapMs: 1_000 } as const;

const { folder, tell } = beginLife();
const store = await openSqliteStore(folder.store);
const hub = await openHub({
  store,
  key: await loadKey(folder.key(HUB)),
  id: HUB,
  terms: TERMS,
  log: ({ event, error }) => {
    const message = event === "failure" ? failureOf(error) : undefined;
    if (message !== undefined) tell({ type: "failure", message });
  },
});
await serveHub(folder.hubSocket, hub);
tell({ type: "ready" });

process.on("message", () => {
  const look = async () => {
    // Whatever is open has at least its deadline ahead of it.
    if ((await store.nextWakeAt()) === null) tell({ type: "drained" });
  };
  store.onCommit(() => void look());
  void look();
});

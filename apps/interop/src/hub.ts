/// <reference types="node" />
// A served hub over a file, until it is killed or told to stop. Started with a folder and a port,
// and with the path of a Unix socket if it is to listen there too.
import process from "node:process";
import { join } from "node:path";
import { loadKey } from "@waybill/agent";
import { openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { openSqliteStore } from "@waybill/store-sqlite";

/** Short, so that a test sees the timers of the lifecycle; an offer outlives the restart of a hub. */
const TERMS = { offerMs: 5_000, graceMs: 3_000, backoffMs: 50, backoffCapMs: 500 } as const;

const [folder = "", port = "0", socketPath] = process.argv.slice(2);
const store = await openSqliteStore(join(folder, "hub.db"));
const key = await loadKey(join(folder, "hub.jwk"));
const hub = await openHub({ store, key, id: "hub", terms: TERMS });
const served = await serveHub({ hub, store, port: Number(port), socketPath });
console.log(JSON.stringify({ url: `http://127.0.0.1:${served.port}`, kid: key.kid }));
process.once("SIGTERM", () => {
  const close = async (): Promise<void> => {
    await served.close();
    await hub.close();
    await store.close();
  };
  void close();
});

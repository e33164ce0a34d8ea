/// <reference types="node" />
// A served hub over a file. Started with a folder and a port; reports the port on which it listens.
import { join } from "node:path";
import { loadKey } from "@waybill/agent";
import { openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { openSqliteStore } from "@waybill/store-sqlite";

const [folder = "", port = ""] = process.argv.slice(2);
const store = await openSqliteStore(join(folder, "hub.db"));
const hub = await openHub({ store, key: await loadKey(join(folder, "hub.jwk")), id: "hub" });
const served = await serveHub({ hub, store, port: Number(port) });
process.send!(served.port);
process.once("disconnect", () => {
  const close = async (): Promise<void> => {
    await served.close();
    await hub.close();
    await store.close();
  };
  void close();
});

/// <reference types="node" />
// Started by ours.ts: a served hub over a synced file, in its own process. Its second argument is what
// it is reached over.
import { join } from "node:path";
import { openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { generateKey } from "@waybill/protocol";
import { openSqliteStore } from "@waybill/store-sqlite";

const [folder, transport] = process.argv.slice(2);
const store = await openSqliteStore(join(folder!, "hub.db"));
const hub = await openHub({ store, key: generateKey() });
const socketPath = transport === "unix" ? join(folder!, "hub.sock") : undefined;
const served = await serveHub({ hub, store, socketPath });
process.send!(served.unixUrl ?? served.url);
process.on("disconnect", () => process.exit());

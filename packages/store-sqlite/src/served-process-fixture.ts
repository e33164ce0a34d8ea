/// <reference types="node" />
// A hub of its own process over a file, served until it is killed.
import process from "node:process";
import { openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { privateKeyFrom } from "@waybill/protocol";
import { openSqliteStore } from "./sqlite-store.ts";

const [file = "", seed = "", port = ""] = process.argv.slice(2);
const store = await openSqliteStore(file);
const key = privateKeyFrom(Buffer.from(seed, "hex"));
const terms = { offerMs: 1_000, graceMs: 1_000, backoffMs: 50, backoffCapMs: 500 };
const hub = await openHub({ store, key, id: "hub", terms });
const served = await serveHub({ hub, store, port: Number(port) });
process.stdout.write(`${served.port}\n`);

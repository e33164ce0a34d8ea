/// <reference types="node" />
// What makes files, in a process with a umask of its own: a thread can't have one.
import { openSqliteReader, openSqliteStore, restoreSqliteStore } from "./index.ts";

const [folder = "", umask = ""] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
const path = `${folder}/hub.db`;
const store = await openSqliteStore(path);
await store.saveSetting("name", "value");
await store.backup(`${folder}/one.db`);
const reader = await openSqliteReader(path);
await reader.backup(`${folder}/two.db`);
await reader.close();
console.log("open");
await new Promise<void>((resolve) => process.stdin.once("data", () => resolve()));
await store.close();
await restoreSqliteStore(`${folder}/one.db`, path, { moveTo: `${folder}/hub.db.before` });
await (await openSqliteStore(path)).close();
process.stdin.destroy();

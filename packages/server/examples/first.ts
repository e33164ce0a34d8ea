import { memoryStore, openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";

const store = memoryStore();
const hub = await openHub({ store, id: "harbour" });
const { url, close } = await serveHub({ hub, store });

// Agents in other processes connect to the url. Everybody may ask what they need to know first.
const known = await fetch(`${url}/.well-known/waybill`);
const { hub: id, newcomers } = (await known.json()) as { hub: string; newcomers: string };
console.log(`${id} is served. Newcomers: ${newcomers}`);

const ready = await fetch(`${url}/readyz`);
console.log(`GET /readyz: ${ready.status}`);

await close();
await hub.close();

import process from "node:process";
import { openGateway, serveAgent } from "@waybill/adapter-openclaw";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";

const hub = await openHub({ store: memoryStore() });

// A running gateway, such as `openclaw gateway run` starts it, and its `gateway.auth.token`.
const url = process.env["OPENCLAW_GATEWAY_URL"] ?? "ws://127.0.0.1:18789";
const gateway = await openGateway({ url, token: process.env["OPENCLAW_GATEWAY_TOKEN"] });

// The gateway's agent `main` takes work from everybody at the hub.
const assistant = createAgent({ id: "assistant", hub });
assistant.serve(...serveAgent(gateway, { name: "assist", takes: "conversation" }));
await assistant.start();

const owner = createAgent({ id: "owner", hub });
const handoff = owner.handoff({
  capability: "assist",
  brief: { instruction: "Name the longest fjord of Norway." },
});
const { output, attempt } = await handoff.result;
console.log(attempt, output); // 1 The Sognefjord.

await Promise.all([assistant, owner].map((each) => each.stop()));
await gateway.close();
await hub.close();

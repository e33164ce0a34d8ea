/// <reference types="node" />
// An agent in its own process, to be killed: it takes the work, says so, and never finishes it.
import { createAgent, loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";

const [url, id, key] = process.argv.slice(2) as [string, string, string];
const agent = createAgent({ id, key: await loadKey(key), hub: await connect(url) });
agent.serve({ name: "web_research", lease_seconds: 1, reliability_sla: 1 }, () => {
  console.log("taken");
  return new Promise<never>(() => undefined);
});
await agent.start();
console.log("ready");

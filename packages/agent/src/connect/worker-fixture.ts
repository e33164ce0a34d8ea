/// <reference types="node" />
// A worker in its own process, to be killed. It prints each handoff that it starts; each lasts `tookMs`.
import { createAgent } from "../agent.ts";
import { loadKey } from "../identity/key-file.ts";
import { connect } from "./connect.ts";

const [url, id, key, tookMs] = process.argv.slice(2) as [string, string, string, string];
const agent = createAgent({ id, key: await loadKey(key), hub: await connect(url), credit: 10 });
agent.serve({ name: "work", lease_seconds: 1 }, async () => {
  console.log("taken");
  await new Promise((resolve) => setTimeout(resolve, Number(tookMs)));
  return id;
});
await agent.start();
console.log("ready");

import { createAgent, generateKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { memoryStore, openHub } from "@waybill/hub";
import { peerWith } from "@waybill/peering";
import { serveHub } from "@waybill/server";

// The other hub, usually on another machine, with an agent of its own.
const store = memoryStore();
const theirs = await openHub({ store, id: "theirs" });
const served = await serveHub({ hub: theirs, store });
const line = await connect(served.url);
const anna = createAgent({ id: "anna", hub: line });
anna.serve<string>("translate", ({ input }) => `${input}, translated`);
await anna.start();

// Your hub. The key identifies it on the other hub: keep it in a file (`loadKey`).
const ours = await openHub({ store: memoryStore(), id: "ours" });
const peer = peerWith({
  hub: ours,
  url: served.url,
  hubKey: theirs.domain,
  key: generateKey(),
  failed: console.error,
});
await peer.ready;

// Your agents hand off as to an agent of their own hub.
const editor = createAgent({ id: "editor", hub: ours });
const { output } = await editor.handoff<string>({ capability: "translate", input: "Waybill" })
  .result;
console.log(output);

await editor.stop();
await peer.close();
await anna.stop();
await line.close();
await served.close();
await Promise.all([ours.close(), theirs.close()]);

import { createAgent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { memoryStore, openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";

// The hub, usually in a process of its own, over a file.
const store = memoryStore();
const hub = await openHub({ store, id: "hub" });
const served = await serveHub({ hub, store });

// A recipient, on any machine that reaches the hub. It opens no port of its own.
const line = await connect(served.url, { hubKey: hub.domain });
const anna = createAgent({ id: "anna", hub: line });
anna.serve<string>("translate", ({ input }) => `${input}, translated`);
await anna.start();

// A delegator, on another one.
const otherLine = await connect(served.url);
const editor = createAgent({ id: "editor", hub: otherLine });
const handoff = editor.handoff<string>({ capability: "translate", input: "Frachtbrief" });
console.log(
  `In custody of the ${(await handoff.custody).by}, accepted by ${(await handoff.accepted).by}.`,
);

// The hub goes down in the middle of it, and comes back where it was.
await served.close();
const again = await serveHub({ hub, store, port: served.port });
const { output, by } = await handoff.result;
console.log(`Result of ${by}: ${output}`);

await Promise.all([anna.stop(), editor.stop()]);
await Promise.all([line.close(), otherLine.close()]);
await again.close();
await hub.close();

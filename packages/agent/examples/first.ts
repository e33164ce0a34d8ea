import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";

const hub = await openHub({ store: memoryStore(), key: generateKey(), id: "hub" });
const agent = (id: string) => createAgent({ id, key: generateKey(), hub });
const capability = { name: "web_research", lease_seconds: 1 };

// The first recipient takes the work, and is killed in the middle of it.
const anna = agent("anna");
anna.serve({ ...capability, reliability_sla: 0.99 }, () => new Promise<never>(() => undefined));
await anna.start();
const editor = agent("editor");
const handoff = editor.handoff({ capability: "web_research", input: "waybills" });
console.log(`In custody of the ${(await handoff.custody).by}, receipt signed.`);
console.log(`Accepted by ${(await handoff.accepted).by}, receipt signed. Now anna is killed.`);
await anna.stop({ mode: "abandon" });

// The hub notices that the lease runs out, and hands the work to the next one.
const bert = agent("bert");
bert.serve<string>(capability, ({ input }) => `all about ${input}`);
await bert.start();
const { output, by, attempt } = await handoff.result;
console.log(`Attempt ${attempt}, by ${by}, result signed: ${JSON.stringify(output)}`);
await Promise.all([editor.stop(), bert.stop()]);
await hub.close();

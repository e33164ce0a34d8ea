import { delegatorAgent, openAutogenHost, serveAgent } from "@waybill/adapter-autogen";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

// The worker's agents ask whoever has handed off their work under the agent type `delegator`.
const delegator = delegatorAgent({ question: "Question", reply: "Answer" });
const host = await openAutogenHost({
  port: Number(process.argv[2] ?? 50051),
  agents: { delegator },
});

const desk = agent("desk");
desk.serve(
  ...serveAgent(host, {
    agentType: "adviser",
    messageType: "Talk",
    members: { conversation: "context", usage: "usage" },
    stop: "Stop",
    capability: { name: "advise", takes: "conversation" },
  }),
);
await desk.start();
console.log(`python3 adviser.py ${host.address}`);

const owner = agent("owner");
const content = [{ type: "text", text: "When can I go to Bergen?" }];
const handle = owner.handoff({ capability: "advise", messages: [{ role: "user", content }] });
for await (const { id, text } of handle.questions) {
  console.log(text); // Which day?
  await handle.answer(id, "Monday");
}
console.log((await handle.result).output); // Take the ferry at six.

await Promise.all([owner, desk].map((each) => each.stop()));
await host.close();
await hub.close();

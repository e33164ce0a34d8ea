import { openAutogenHost, remoteAgent, serveAgent } from "@waybill/adapter-autogen";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

const translator = agent("translator-001");
translator.serve<{ text: string }>("translate", ({ input }) => ({
  text: `${input.text}, says he`,
}));
await translator.start();

// Workers connect here, and find the translator under the agent type `translator`.
const office = agent("office");
const host = await openAutogenHost({
  port: Number(process.argv[2] ?? 50051),
  agents: { translator: remoteAgent(office, { capability: "translate", reply: "Answer" }) },
});

// The worker's agents of the type `clerk` are there for everybody, as a capability.
office.serve(
  ...serveAgent(host, {
    agentType: "clerk",
    messageType: "Ask",
    capability: {
      name: "file",
      input_schema: { text: "string" },
      output_schema: { text: "string" },
    },
  }),
);
await office.start();
console.log(`python3 clerk.py ${host.address}`);

const owner = agent("owner");
const { result } = owner.handoff({ capability: "file", input: { text: "a letter" } });
console.log((await result).output); // { text: 'filed: a letter, says he' }

await Promise.all([owner, office, translator].map((each) => each.stop()));
await host.close();
await hub.close();

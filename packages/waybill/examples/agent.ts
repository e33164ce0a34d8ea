// node agent.mts <name>: connects to the hub that `waybill dev` started in this folder, and serves.
import { setTimeout } from "node:timers/promises";
import { createAgent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";

const [id = "anna"] = process.argv.slice(2);
const hub = await connect();
const agent = createAgent({ id, hub });
agent.serve<{ topic: string }>(
  {
    name: "web_research",
    description: "Finds out what is known",
    input_schema: { topic: "string" },
    lease_seconds: 20,
  },
  async ({ input, progress }) => {
    await progress({ message: "reading", fraction: 0.25 });
    await setTimeout(3000);
    await progress({ message: "writing it up", fraction: 0.75 });
    return { summary: `all about ${input.topic}` };
  },
);
await agent.start();
console.log(`${id} is ready`);

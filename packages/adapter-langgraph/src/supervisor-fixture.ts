/// <reference types="node" />
// A real supervisor with one member, which is another agent on a served hub: it hands over to that
// member at once, and ends. The tests of the Python package start it. Tells of its state in JSON.
import process from "node:process";
import { createSupervisor } from "@langchain/langgraph-supervisor";
import { createAgent, loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { usingTools } from "./model-fixture.ts";
import { remoteMember } from "./remote-member.ts";

const [url = "", id = "", key = ""] = process.argv.slice(2);
const agent = createAgent({ id, key: await loadKey(key), hub: await connect(url) });
await agent.start();
const handsOver = [{ name: "transfer_to_remote_crew", args: {}, id: "t1" }];
const model = usingTools(handsOver, "So it is.");
const supervisor = createSupervisor({
  agents: [remoteMember(agent, { name: "remote_crew", capability: "write" }) as never],
  llm: model,
}).compile();
const { messages } = await supervisor.invoke({
  messages: [{ role: "user", name: "anna", content: "Write a poem about the tides." }],
});
const said = messages.map(({ name, text }) => ({ name, text }));
console.log(JSON.stringify({ said }));
await agent.stop();
process.exit();

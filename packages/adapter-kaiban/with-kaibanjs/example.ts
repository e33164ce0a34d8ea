import { createAgent } from "@waybill/agent";
import { remoteMember, serveTeam } from "@waybill/adapter-kaiban";
import { memoryStore, openHub } from "@waybill/hub";
import { Agent, Task, Team } from "kaibanjs";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

const researcher = agent("researcher");
researcher.serve({ name: "research", takes: "delegation" }, ({ body }) => {
  return `Found out: ${body.brief?.instruction}`;
});
await researcher.start();
const [found] = (await hub.find({ capability: "research" })).fits;

// Call: a remote agent as an agent of KaibanJS, whose class is passed in.
// Serve: a team, created for each handoff, with the handoff's input as its inputs.
const newsroom = agent("newsroom");
newsroom.serve(
  ...serveTeam(
    (run) => {
      const member = remoteMember(Agent, newsroom, found!.capability, { run });
      const task = new Task({
        title: "find",
        description: "Why does it {what}?",
        expectedOutput: "Three facts.",
        agent: member,
      });
      return new Team({ name: "newsroom", agents: [member], tasks: [task], logLevel: "silent" });
    },
    { name: "report" },
  ),
);
await newsroom.start();

const owner = agent("owner");
const { output } = await owner.handoff({ capability: "report", input: { what: "rain" } }).result;
console.log(output); // Found out: Why does it rain?

await Promise.all([researcher, newsroom, owner].map((each) => each.stop()));
await hub.close();

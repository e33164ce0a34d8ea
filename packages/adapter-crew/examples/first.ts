import { createAgent } from "@waybill/agent";
import { localMember, remoteMember, runCrew, serveCrew } from "@waybill/adapter-crew";
import type { Crew } from "@waybill/adapter-crew";
import { memoryStore, openHub } from "@waybill/hub";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

// Somebody's agent, built on whatever it is built on.
const researcher = agent("researcher-1");
researcher.serve({ name: "research", takes: "delegation" }, ({ body, progress }) => {
  void progress({ message: "looking around" });
  return `Found out: ${body.brief?.instruction.split("\n")[0]}`;
});
await researcher.start();

// Call: it is a member of a crew here, beside a function.
const newsroom = agent("newsroom");
const { capability } = (await hub.find({ capability: "research" })).fits.at(0)!;
const crew: Crew = {
  members: [
    remoteMember(newsroom, capability, { role: "researcher" }),
    localMember({
      role: "writer",
      goal: "Writes articles.",
      run: ({ brief }) => ({ title: "Rain", words: brief.instruction.length }),
    }),
  ],
  tasks: [
    {
      name: "rain",
      description: "Why does it rain?",
      expectedOutput: "Three facts.",
      member: "researcher",
      isAsync: true,
    },
    {
      name: "snow",
      description: "Why does it snow?",
      expectedOutput: "Three facts.",
      member: "researcher",
      isAsync: true,
    },
    {
      name: "article",
      description: "Write an article.",
      expectedOutput: "A title, and how long it is.",
      member: "writer",
      context: ["rain", "snow"],
      output: { type: "object", required: ["title"] },
      guardrails: [({ output }) => ("words" in Object(output) ? undefined : "say how long it is")],
    },
  ],
};
// Serve: the whole crew is a capability that others hand work to.
newsroom.serve(...serveCrew(crew, { name: "report", takes: "delegation" }));
await newsroom.start();

const { outcomes } = await runCrew(crew, {
  run: "article-1",
  onProgress: (event) => console.log("progress:", (event as { message: string }).message),
});
for (const { task, by, output } of outcomes) console.log(`${task}, by ${by}:`, output);

const owner = agent("owner");
const handle = owner.handoff({
  capability: "report",
  brief: { instruction: "Something about the weather." },
});
console.log((await handle.result).status);

await Promise.all([researcher, newsroom, owner].map((each) => each.stop()));
await hub.close();

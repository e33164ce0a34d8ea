import { localMember, remoteMember, runCrew, serveCrew } from "@waybill/adapter-crew";
import type { Task } from "@waybill/adapter-crew";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
const writer = localMember({ role: "writer", goal: "Writes.", run: () => "It rains in Bergen." });
const report: Task = {
  name: "report",
  description: "Report on the weather in Bergen.",
  expectedOutput: "One sentence.",
  member: "writer",
};

// #region serve
const newsroom = agent("newsroom");
const crew = { members: [writer], tasks: [report] };
newsroom.serve(...serveCrew(crew, { name: "report", takes: "delegation" }));
await newsroom.start();
// #endregion

// #region call
const chief = agent("chief");
const best = (await hub.find({ capability: "report" })).fits.at(0)!;
const reporter = remoteMember(chief, best.capability, { role: "reporter" });
const tasks = [{ ...report, member: "reporter" }];
const { output } = await runCrew({ members: [reporter], tasks }, { run: "monday" });
// #endregion

console.log(output);
await Promise.all([newsroom.stop(), chief.stop()]);
await hub.close();

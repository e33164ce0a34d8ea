import { createAgent } from "@waybill/agent";
import { remotesOn, localMember, runCrew } from "@waybill/adapter-crew";
import type { Manager } from "@waybill/adapter-crew";
import { memoryStore, openHub } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

const printers = ["printer-1", "printer-2"].map((id) => {
  const printer = agent(id);
  printer.serve({ name: id, takes: "delegation" }, () => {
    if (id === "printer-1") throw new WaybillError(500, "There is no paper.");
    return "On paper.";
  });
  return printer;
});
await Promise.all(printers.map((printer) => printer.start()));

// A manager is a function of how things stand. `managedBy(member)` makes one of any member, with a
// model behind it, and be it an agent somewhere else.
const manager: Manager = ({ made }) => {
  if (made.length === 0) return { ask: { to: "editor", question: "Which title?" } };
  if (made.length === 1) return { delegate: { to: "printer-1", task: "Print it." } };
  if (made.length === 2)
    return { delegate: { to: { capability: "printer-2" }, task: "Print it." } };
  return { finish: made.flatMap(({ delivery }) => delivery?.output ?? []) };
};

const newsroom = agent("newsroom");
const { output, outcomes } = await runCrew(
  {
    members: [localMember({ role: "editor", goal: "Knows titles.", run: () => "Rain" })],
    tasks: [{ name: "issue", description: "Bring it out.", expectedOutput: "One line." }],
    manager,
    // Who is no member is looked for on the hub.
    elsewhere: remotesOn(newsroom, hub),
  },
  { run: "issue-1" },
);
console.log(output); // [ 'Rain', 'On paper.' ]
// Had the manager finished right after this one, the run would have ended with it.
console.log(outcomes[0]?.failures.map(({ to, status, message }) => [to, status, message]));

await Promise.all([...printers, newsroom].map((each) => each.stop()));
await hub.close();

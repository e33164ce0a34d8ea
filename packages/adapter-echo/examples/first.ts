import { createAgent } from "@waybill/agent";
import { Echo, remoteTool, serveEcho } from "@waybill/adapter-echo";
import { memoryStore, openHub } from "@waybill/hub";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

// Serve: an Echo that other agents can hand work to.
const parrot = agent("parrot");
const shouting = new Echo(({ value }) => ({ value: String(value).toUpperCase() }));
parrot.serve(...serveEcho(shouting, { name: "shout", input_schema: { type: "string" } }));
await parrot.start();

// Call: another Echo, which uses whoever can do that as one of its tools.
const best = (await hub.find({ capability: "shout" })).fits.at(0);
const pirate = agent("pirate");
const asking = new Echo(
  (turn) => turn.use("shout", "first", turn),
  [remoteTool(pirate, best!.capability)],
);
const reply = await asking.run(
  { value: "land ahoy", lines: [], files: [] },
  { session: "voyage-1" },
);
console.log(reply); // { value: 'LAND AHOY', lines: [], files: [] }

await Promise.all([parrot.stop(), pirate.stop()]);
await hub.close();

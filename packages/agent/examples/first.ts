import { capability, createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import * as z from "zod";

// Declared once, in a module that both sides import.
const research = capability({
  name: "web_research",
  input: z.object({ topic: z.string() }),
  output: z.object({ summary: z.string() }),
  lease_seconds: 1,
});
const hub = await openHub({ store: memoryStore(), id: "hub" });

// The first recipient takes the work, and is killed in the middle of it.
const anna = createAgent({ id: "anna", hub });
anna.serve(research, () => new Promise<never>(() => undefined));
await anna.start();
const editor = createAgent({ id: "editor", hub });
const handoff = editor.handoff(research, { input: { topic: "waybills" } });
console.log(`In custody of the ${(await handoff.custody).by}, receipt signed.`);
console.log(`Accepted by ${(await handoff.accepted).by}, receipt signed. Now anna is killed.`);
await anna.stop({ mode: "abandon" });

// The hub notices that the lease runs out, and hands the work to the next one.
const bert = createAgent({ id: "bert", hub });
bert.serve(research, ({ input }) => ({ summary: `all about ${input.topic}` }));
await bert.start();
const { output, by, attempt } = await handoff.result;
console.log(`Attempt ${attempt}, by ${by}, result signed: ${output.summary}`);
await Promise.all([editor.stop(), bert.stop()]);
await hub.close();

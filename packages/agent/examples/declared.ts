import { capability, createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import * as z from "zod";

// #region declare
const translate = capability({
  name: "translate",
  version: "1.0",
  input: z.object({ text: z.string().min(1) }),
  output: z.object({ text: z.string(), words: z.int() }),
  questions: { language: z.enum(["en", "de"]) },
  lease_seconds: 30,
});
// #endregion

const hub = await openHub({ store: memoryStore() });
const translator = createAgent({ id: "translator", hub });
// #region serve
translator.serve(translate, async ({ input, ask }) => {
  const language = await ask("language", "Into which language?"); // "en" | "de"
  return { text: `${input.text} (${language})`, words: input.text.split(" ").length };
});
await translator.start();
// #endregion

const editor = createAgent({ id: "editor", hub });
// #region handoff
const handoff = editor.handoff(translate, { input: { text: "a bill of lading" } });
for await (const question of handoff.questions) {
  if (question.name === "language") await handoff.answer(question, "de");
}
const { output } = await handoff.result; // { text: string; words: number }
// #endregion
console.log(output);

const count = capability({ name: "count", input: z.string(), output: z.int() });
const counter = createAgent({ id: "counter", hub });
counter.serve(count, ({ input }) => input.length);
await counter.start();
const texts = ["a", "bb", "ccc"];
// #region fan-out
const results = await editor.handoffAll(count, texts, { concurrency: 4 });
const endings = await editor.handoffAll(count, texts, { settled: true });
// #endregion
console.log(results.map((each) => each.output));
console.log(endings.map(({ status }) => status));

await Promise.all([editor, translator, counter].map((agent) => agent.stop()));
await hub.close();

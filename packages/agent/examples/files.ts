import { mkdtemp, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";

const folder = await mkdtemp(join(tmpdir(), "waybill-"));
await writeFile(join(folder, "interview.wav"), Buffer.alloc(8_000_000));
const hub = await openHub({ store: memoryStore(), id: "hub" });

// #region serve
const anna = createAgent({ id: "anna", hub });
anna.serve("transcribe", async ({ artifacts, result }) => {
  let length = 0;
  for (const recording of artifacts) {
    // Read from the hub as it is used, and compared with the digest that its sender has signed.
    for await (const bytes of recording.stream()) length += bytes.length;
  }
  const text = new TextEncoder().encode(`A recording of ${length} bytes.`);
  return result({ output: "done", artifacts: [{ name: "interview.txt", bytes: text }] });
});
await anna.start();
// #endregion

// #region send
const editor = createAgent({ id: "editor", hub });
const { artifacts } = await editor.handoff({
  capability: "transcribe",
  artifacts: [{ path: join(folder, "interview.wav") }],
}).result;
for (const file of artifacts) await file.save(join(folder, "interview.txt"));
// #endregion

const { size } = await stat(join(folder, "interview.txt"));
console.log(`${artifacts.map(({ name }) => name).join()}: ${size} bytes, saved.`);
await Promise.all([editor.stop(), anna.stop()]);
await hub.close();

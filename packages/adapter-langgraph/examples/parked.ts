import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createAgent, loadKey } from "@waybill/agent";
import { remoteNode, unfinishedThreads, wake } from "@waybill/adapter-langgraph";
import { openHub } from "@waybill/hub";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import { openSqliteStore } from "@waybill/store-sqlite";
import { START, StateGraph } from "@langchain/langgraph";
import * as z from "zod";

async function life(folder: string): Promise<void> {
  const store = await openSqliteStore(join(folder, "hub.db"));
  const hub = await openHub({ store, key: await loadKey(join(folder, "hub.json")) });
  const agent = async (id: string) =>
    createAgent({ id, key: await loadKey(join(folder, `${id}.json`)), hub });

  // Somebody who takes a long time.
  const notary = await agent("notary");
  notary.serve<string>("certify", async ({ input }) => {
    await setTimeout(500);
    return `${input}, certified`;
  });
  await notary.start();

  const office = await agent("office");
  const State = z.object({ deed: z.string(), filed: z.string().optional() });
  const checkpointer = new SqliteSaver(join(folder, "checkpoints.db"));
  const graph = new StateGraph(State)
    .addNode(
      "certify",
      remoteNode(office, {
        isParked: true,
        handoff: ({ deed }: z.infer<typeof State>) => ({
          capability: "certify",
          input: deed,
          timeoutMs: 3_600_000,
        }),
        update: ({ output }) => ({ filed: output as string }),
      }),
    )
    .addEdge(START, "certify")
    .compile({ checkpointer });

  // What an earlier life has left: it may have been killed anywhere.
  for await (const thread of unfinishedThreads(graph)) {
    const { filed } = (await wake(office, graph, { configurable: { thread_id: thread } })) as {
      filed: string;
    };
    console.log(`woken in another process: ${filed}`);
    return process.exit();
  }
  // The graph is left in its checkpointer while the notary works. Nothing of it is in memory.
  await graph.invoke({ deed: "the deed" }, { configurable: { thread_id: "case 7" } });
  console.log("parked");
  process.send?.("parked");
}

const [folder] = process.argv.slice(2);
if (folder !== undefined) await life(folder);
else {
  const shared = mkdtempSync(join(tmpdir(), "waybill-"));
  const first = fork(import.meta.filename, [shared]);
  await once(first, "message");
  first.kill("SIGKILL");
  await once(first, "exit");
  console.log("killed");
  await once(fork(import.meta.filename, [shared]), "exit");
}

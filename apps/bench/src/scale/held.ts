/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { Store, StoredHandoff } from "@waybill/hub/store";
import { createHandoff, generateKey, signEnvelopes } from "@waybill/protocol";
import { openSqliteStore } from "@waybill/store-sqlite";
import { CAPABILITY } from "../custody/ours.ts";
import { inputOf } from "../custody/job.ts";

/**
 * Runs in its own process, so that only the hub's memory counts: takes open handoffs into custody,
 * and prints by how many megabytes the process has grown.
 */
const TOGETHER = 64;
/** A hub limits the open handoffs of each agent. */
const DELEGATORS = 32;
/** The first ones load and compile the code. */
const FIRST = 512;
const PAGE = 1_000;
const TIMEOUT_MS = 24 * 60 * 60 * 1000;
const MEGABYTE = 1024 * 1024;

const [kind, count] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
try {
  const store = kind === "sqlite" ? await openSqliteStore(join(folder, "hub.db")) : memoryStore();
  console.log(JSON.stringify(await held(store, Number(count))));
} finally {
  rmSync(folder, { recursive: true });
}

async function held(store: Store, handoffs: number): Promise<{ grownMb: number; totalMb: number }> {
  const hub = await openHub({ store, key: generateKey() });
  const recipient = createAgent({ id: "recipient", key: generateKey(), hub });
  recipient.serve(CAPABILITY, () => null);
  await recipient.start();
  await recipient.stop();
  const delegators = Array.from({ length: DELEGATORS }, (_, index) => {
    const [id, key] = [`delegator-${index}`, generateKey()];
    return { id, key, agent: createAgent({ id, key, hub }) };
  });
  for (const { agent } of delegators) await agent.start();

  await submit(FIRST);
  const before = await residentBytes();
  await submit(handoffs - FIRST);
  const after = await residentBytes();
  const waiting = await countWaiting(store);
  if (waiting !== handoffs) throw new Error(`${waiting} of ${handoffs} are open`);
  for (const { agent } of delegators) await agent.stop();
  await hub.close();
  await store.close();
  return { grownMb: (after - before) / MEGABYTE, totalMb: after / MEGABYTE };

  async function submit(number: number): Promise<void> {
    for (let done = 0; done < number; done += TOGETHER) {
      const { id: from, key } = delegators[(done / TOGETHER) % DELEGATORS]!;
      const envelopes = Array.from({ length: Math.min(TOGETHER, number - done) }, (_, index) =>
        createHandoff({
          from,
          domain: hub.domain,
          to: "recipient",
          body: { capability: CAPABILITY, input: inputOf(done + index) },
          timeoutMs: TIMEOUT_MS,
        }),
      );
      await Promise.all(signEnvelopes(envelopes, key).map(({ text }) => hub.submit(text)));
    }
  }
}

async function countWaiting(store: Store): Promise<number> {
  let found = 0;
  for (let after: StoredHandoff | undefined; ;) {
    const page = await store.waiting("agent:recipient", { after, limit: PAGE });
    found += page.length;
    if (page.length < PAGE) return found;
    after = page.at(-1)!;
  }
}

/** After several collections, because one collection leaves what was only released by the one before. */
async function residentBytes(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage.rss();
}

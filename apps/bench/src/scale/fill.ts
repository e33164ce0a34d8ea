/// <reference types="node" />
import { randomBytes } from "node:crypto";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { NewEntry, Store, StoredHandoff } from "@waybill/hub/store";
import { digestOfBytes, generateKey, newId } from "@waybill/protocol";
import { CAPABILITY } from "../custody/ours.ts";
import { inputOf, outputOf } from "../custody/job.ts";
import { commitOne } from "@waybill/hub/store";

const TOGETHER = 500;
/** One of this many is still open, and waits for an agent that is not attached. */
const OPEN_ONE_OF = 100;

/** What a hub has written about one handoff, to be repeated for many. */
interface Pattern {
  readonly handoff: StoredHandoff;
  readonly entries: readonly NewEntry[];
}

/** Fills a store like a hub, but without signatures: rows and ledger entries of its own making. */
export async function fill(store: Store, handoffs: number): Promise<void> {
  const patterns = await patternsOf();
  for (let done = 0; done < handoffs; done += TOGETHER) {
    const count = Math.min(TOGETHER, handoffs - done);
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const isOpen = (done + index) % OPEN_ONE_OF === 0;
        const { type } = await commitOne(store, copyOf(isOpen ? patterns.open : patterns.ended));
        if (type !== "committed") throw new Error(`the store said ${type} to a new handoff`);
      }),
    );
  }
}

function copyOf({ handoff, entries }: Pattern): Pattern {
  const id = newId();
  const correlationId = newId();
  const record = handoff.record
    .replaceAll(handoff.id, id)
    .replaceAll(handoff.correlationId, correlationId);
  return {
    handoff: { ...handoff, id, correlationId, version: 1, record },
    entries: entries.map((entry) => ({
      ...entry,
      handoffId: id,
      digest: digestOfBytes(randomBytes(32)),
      replayKey: entry.replayKey && { from: entry.replayKey.from, id: newId() },
    })),
  };
}

/** Two real handoffs through a real hub: one that has ended, and one that waits. */
async function patternsOf(): Promise<{ readonly ended: Pattern; readonly open: Pattern }> {
  const store = memoryStore();
  const hub = await openHub({ store, key: generateKey() });
  const recipient = createAgent({ id: "recipient", key: generateKey(), hub });
  recipient.serve<{ text: string }>(CAPABILITY, ({ input }) => outputOf(input));
  await recipient.start();
  const delegator = createAgent({ id: "delegator", key: generateKey(), hub });
  const handoff = delegator.handoff({ capability: CAPABILITY, input: inputOf(0) });
  await handoff.result;
  await handoff.acknowledge();
  const ended = await patternOf(store, handoff.id);

  const absent = createAgent({ id: "absent", key: generateKey(), hub });
  absent.serve(CAPABILITY, () => null);
  await absent.start();
  await absent.stop();
  const timeoutMs = 24 * 60 * 60 * 1000;
  const waiting = delegator.handoff({
    to: "absent",
    capability: CAPABILITY,
    input: inputOf(1),
    timeoutMs,
  });
  await waiting.custody;
  const open = await patternOf(store, waiting.id);
  for (const each of [delegator, recipient]) await each.stop();
  await hub.close();
  await store.close();
  return { ended, open };
}

async function patternOf(store: Store, id: string): Promise<Pattern> {
  const handoff = await store.handoff(id);
  if (handoff === undefined) throw new Error(`the hub did not keep ${id}`);
  return { handoff, entries: await store.ledgerOf(id, { limit: 100 }) };
}

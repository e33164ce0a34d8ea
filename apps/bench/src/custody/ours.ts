/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { openSqliteStore } from "@waybill/store-sqlite";
import { checkOutput, inputOf, outputOf } from "./job.ts";
import type { Lane } from "./lane.ts";

export const CAPABILITY = "bench";

/** How many attempts the recipient takes at once: more than are ever under way. */
const CREDIT = 256;

export interface Keys {
  readonly hub: PrivateKey;
  readonly delegator: PrivateKey;
  readonly recipient: PrivateKey;
}

export function generateKeys(): Keys {
  return { hub: generateKey(), delegator: generateKey(), recipient: generateKey() };
}

export interface OursOptions {
  readonly store: Store;
  /** The same ones again where the store knows them already. */
  readonly keys?: Keys;
  /** How many handoffs the delegator may have open, where the store has more of them than a hub allows. */
  readonly openHandoffs?: number;
  /** Whether the acknowledgement is waited for before the task counts as done, or before the run does. */
  readonly waitsForAcknowledgement?: boolean;
}

/** A delegator and a recipient at a hub over this store. */
export async function openOurs(options: OursOptions): Promise<Lane> {
  const { store, keys = generateKeys(), waitsForAcknowledgement = false } = options;
  const { openHandoffs } = options;
  const limits = openHandoffs === undefined ? {} : { openHandoffs };
  const hub = await openHub({ store, key: keys.hub, limits });
  const recipient = createAgent({ id: "recipient", key: keys.recipient, hub, credit: CREDIT });
  recipient.serve<{ text: string }>(CAPABILITY, ({ input }) => outputOf(input));
  await recipient.start();
  const delegator = createAgent({ id: "delegator", key: keys.delegator, hub });
  await delegator.start();
  const acknowledging = new Set<Promise<void>>();
  return {
    async doOne(index) {
      const input = inputOf(index);
      const handoff = delegator.handoff({ capability: CAPABILITY, input, acknowledge: "manual" });
      await handoff.custody;
      await handoff.accepted;
      const { output } = await handoff.result;
      checkOutput(index, output);
      const acknowledged = handoff.acknowledge();
      if (waitsForAcknowledgement) return acknowledged;
      acknowledging.add(acknowledged);
      void acknowledged.then(() => acknowledging.delete(acknowledged));
    },
    async settle() {
      while (acknowledging.size > 0) await Promise.all(acknowledging);
    },
    async close() {
      await delegator.stop();
      await recipient.stop();
      await hub.close();
      await store.close();
    },
  };
}

/** On a file, with every commit synced. */
export async function openOnSqlite(options: Omit<OursOptions, "store"> = {}): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const store = await openSqliteStore(join(folder, "hub.db"));
  const lane = await openOurs({ ...options, store });
  return {
    ...lane,
    async close() {
      await lane.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export function openInMemory(): Promise<Lane> {
  return openOurs({ store: memoryStore() });
}

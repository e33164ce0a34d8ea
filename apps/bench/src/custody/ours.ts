/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@waybill/agent";
import type { HandoffHandle } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { openSqliteStore } from "@waybill/store-sqlite";
import { checkOutput, inputOf, outputOf } from "./job.ts";
import type { Lane } from "./lane.ts";

export const CAPABILITY = "bench";

/** How many attempts the recipient takes at once: more than are ever in flight. */
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
  /** The same keys again, if the store knows them already. */
  readonly keys?: Keys;
  /** The delegator's limit of open handoffs, if the store has more of them than a hub allows. */
  readonly openHandoffs?: number;
  /** Whether a task counts as done only after its acknowledgement, or whether only the run waits for it. */
  readonly waitsForAcknowledgement?: boolean;
  /** How many agents offer the capability; by default one. */
  readonly recipients?: number;
}

/** Our side, which also runs groups. */
export interface OurLane extends Lane {
  /** Runs this many tasks as the members of one group, from this index on. */
  doGroup(first: number, size: number): Promise<void>;
}

/** A delegator and a recipient on a hub over this store. */
export async function openOurs(options: OursOptions): Promise<OurLane> {
  const { store, keys = generateKeys(), waitsForAcknowledgement = false } = options;
  const { openHandoffs, recipients: count = 1 } = options;
  const limits = openHandoffs === undefined ? {} : { openHandoffs };
  const hub = await openHub({ store, key: keys.hub, limits });
  const recipients = Array.from({ length: count }, (_, index) => {
    const who =
      index === 0
        ? { id: "recipient", key: keys.recipient }
        : { id: `recipient-${index}`, key: generateKey() };
    return createAgent({ ...who, hub, credit: CREDIT });
  });
  for (const recipient of recipients) {
    recipient.serve<{ text: string }>(CAPABILITY, ({ input }) => outputOf(input));
    await recipient.start();
  }
  const delegator = createAgent({ id: "delegator", key: keys.delegator, hub });
  await delegator.start();
  const acknowledging = new Set<Promise<void>>();
  const requestOf = (index: number) =>
    ({ capability: CAPABILITY, input: inputOf(index), acknowledge: "manual" }) as const;
  const finish = async (index: number, handoff: HandoffHandle): Promise<void> => {
    await handoff.custody;
    await handoff.accepted;
    const { output } = await handoff.result;
    checkOutput(index, output);
    const acknowledged = handoff.acknowledge();
    if (waitsForAcknowledgement) return acknowledged;
    acknowledging.add(acknowledged);
    void acknowledged.then(() => acknowledging.delete(acknowledged));
  };
  return {
    doOne: (index) => finish(index, delegator.handoff(requestOf(index))),
    async doGroup(first, size) {
      const requests = Array.from({ length: size }, (_, index) => requestOf(first + index));
      const { handles, result } = delegator.handoffAll(requests, { join: "all" });
      await Promise.all(handles.map((handle, index) => finish(first + index, handle)));
      await result;
    },
    async settle() {
      while (acknowledging.size > 0) await Promise.all(acknowledging);
    },
    async close() {
      await delegator.stop();
      for (const recipient of recipients) await recipient.stop();
      await hub.close();
      await store.close();
    },
  };
}

/** On a file, with every commit synced. */
export async function openOnSqlite(options: Omit<OursOptions, "store"> = {}): Promise<OurLane> {
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

export function openInMemory(options: Omit<OursOptions, "store"> = {}): Promise<OurLane> {
  return openOurs({ ...options, store: memoryStore() });
}

import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { openStoreOverLog } from "@waybill/store-sqlite/over-log";
import type { RemainsOnDisk } from "../hub/durable-store.ts";

/** Opens what is left on the disk, when nothing fails any more and no time has to pass. */
export async function openRemains(remains: RemainsOnDisk): Promise<Store> {
  if (remains.type === "journal") return memoryStore({ disk: remains.disk });
  const time = { now: () => 0, nextTurn: () => Promise.resolve() };
  return openStoreOverLog(remains.folder, { segmentBytes: SEGMENT_BYTES, time });
}

/** Nothing is written any more. */
const SEGMENT_BYTES = 1024;

import { memoryStore } from "@waybill/hub";
import type { Disk, Store } from "@waybill/hub";
import { openStoreOverLog } from "@waybill/store-sqlite/over-log";
import type { LogFolder } from "@waybill/store-sqlite/over-log";
import { SimulatedDisk } from "../world/disk.ts";
import type { DiskOptions } from "../world/disk.ts";
import { SimulatedFolder } from "../world/log-disk.ts";
import type { Process } from "../world/process.ts";
import type { Scenario } from "../world/scenario.ts";
import type { Scheduler } from "../world/scheduler.ts";

/** What the hubs' disk holds when its power is off for good. */
export type RemainsOnDisk =
  | { readonly type: "journal"; readonly disk: Disk }
  | { readonly type: "log"; readonly folder: LogFolder };

/** A store on a simulated disk. The disk outlives the processes that open it. */
export interface DurableStore {
  open(process: Process): Promise<Store>;
  losePower(): void;
  /** What a power failure at this moment leaves in the worst case. */
  remains(): RemainsOnDisk;
}

/** So small that a world begins many segments. */
const SEGMENT_BYTES = 24 * 1024;

export function durableStore(
  storage: Scenario["storage"],
  options: DiskOptions,
  scheduler: Scheduler,
): DurableStore {
  return storage === "journal" ? inJournal(options) : inLog(options, scheduler);
}

/** The memory store of the hub, with its journal. */
function inJournal(options: DiskOptions): DurableStore {
  const disk = new SimulatedDisk(options);
  return {
    open: async (process) => memoryStore({ disk: disk.for(process) }),
    losePower: () => disk.losePower(),
    remains() {
      const bytes = disk.synced();
      const nothing = () => Promise.resolve();
      const frozen = { append: nothing, sync: nothing, read: () => Promise.resolve(bytes) };
      return { type: "journal", disk: frozen };
    },
  };
}

/** The store of `@waybill/store-sqlite`, with its index in memory. */
function inLog(options: DiskOptions, scheduler: Scheduler): DurableStore {
  const folder = new SimulatedFolder(options);
  return {
    open: (process) =>
      openStoreOverLog(folder.for(process), {
        segmentBytes: SEGMENT_BYTES,
        time: { now: () => scheduler.now, nextTurn: () => process.sleep(0) },
      }),
    losePower: () => folder.losePower(),
    remains: () => ({ type: "log", folder: folder.synced() }),
  };
}

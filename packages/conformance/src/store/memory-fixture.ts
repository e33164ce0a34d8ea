/// <reference types="node" />
import { Buffer } from "node:buffer";
import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { memoryStore } from "@waybill/hub";
import type { Disk, Store } from "@waybill/hub";
import { idOf } from "./sample.ts";
import type { DurableStoreSubject, StoreContents, StoreProcess } from "./subject.ts";

/** A disk that distinguishes synced data from written data. */
export interface TwoLayeredDisk extends Disk {
  readonly synced: () => Uint8Array;
}

export function twoLayeredDisk(): TwoLayeredDisk {
  let written = Buffer.alloc(0);
  let syncedLength = 0;
  return {
    async append(bytes) {
      await turn();
      written = Buffer.concat([written, bytes]);
    },
    async sync() {
      const { length } = written;
      await turn();
      syncedLength = length;
    },
    read: async () => written,
    synced: () => written.subarray(0, syncedLength),
  };
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** A memory store on such a disk; the second door is another store, over the synced data. */
export async function openMemorySubject(
  disk: TwoLayeredDisk = twoLayeredDisk(),
): Promise<DurableStoreSubject> {
  let store = memoryStore({ disk });
  return {
    store,
    observe: async () => {
      const copy = disk.synced();
      const nothing = () => Promise.resolve();
      const read = async () => copy;
      return contentsOf(memoryStore({ disk: { append: nothing, sync: nothing, read } }));
    },
    async reopen() {
      await store.close();
      store = memoryStore({ disk });
      return store;
    },
    dispose: () => store.close(),
  };
}

/** Everything in the store, read through the store itself. */
export async function contentsOf(store: Store): Promise<StoreContents> {
  const entries = await store.ledger({ limit: Number.MAX_SAFE_INTEGER });
  const ids = new Set(entries.map(({ handoffId }) => handoffId));
  const handoffs = [];
  // The ids of samples that are in no entry.
  for (let number = 0; number < 20; number++) ids.add(idOf(number));
  for (const id of ids) {
    const handoff = id === null ? undefined : await store.handoff(id);
    if (handoff !== undefined) handoffs.push(handoff);
  }
  return { handoffs, entries };
}

/** A disk of one file, written synchronously by `pwrite64` and `fsync`. */
export function fileDisk(path: string): Disk {
  const file = openSync(path, existsSync(path) ? "r+" : "w+");
  let at = readFileSync(path).length;
  return {
    async append(bytes) {
      for (let done = 0; done < bytes.length;) {
        const count = writeSync(file, bytes, done, bytes.length - done, at);
        done += count;
        at += count;
      }
    },
    sync: async () => fsyncSync(file),
    read: async () => readFileSync(path),
  };
}

/** Opened by a process that is to be killed; the suite prescribes the name. */
export async function openStore(location: string): Promise<Store> {
  return memoryStore({ disk: fileDisk(location) });
}

export const memoryProcess: StoreProcess = {
  module: new URL(import.meta.url),
  locate: async () => join(await mkdtemp(join(tmpdir(), "waybill-journal-")), "journal"),
  remove: (location) => rm(dirname(location), { recursive: true, force: true }),
  systemCalls: ["pwrite64", "fsync"],
};

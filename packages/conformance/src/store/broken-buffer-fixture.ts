/// <reference types="node" />
import { Buffer } from "node:buffer";
import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { fileDisk } from "./memory-fixture.ts";

/** Writes when enough has accumulated, and claims to write at once. */
export async function openStore(location: string): Promise<Store> {
  const disk = fileDisk(location);
  let waiting: Uint8Array[] = [];
  const store = memoryStore({
    disk: {
      read: disk.read,
      sync: disk.sync,
      append: async (bytes) => void waiting.push(bytes),
    },
  });
  const write = async () => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    await disk.append(bytes);
  };
  const timer = setInterval(() => void write(), 100);
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "close") {
        return async () => {
          clearInterval(timer);
          await target.close();
          await write();
        };
      }
      const member = target[name];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/// <reference types="node" />
import { Buffer } from "node:buffer";
import { memoryStore } from "@waybill/hub";
import type { Disk, Store } from "@waybill/hub";
import { fileDisk } from "./memory-fixture.ts";

const HEADER = "waybill";

/** Writes the header of a new file in two parts, and can't read a half-written one. */
export async function openStore(location: string): Promise<Store> {
  const file = fileDisk(location);
  const begun = Buffer.from(await file.read()).toString("latin1", 0, HEADER.length);
  if (begun === "") {
    await file.append(Buffer.from(HEADER.slice(0, 3)));
    await file.append(Buffer.from(HEADER.slice(3)));
  } else if (begun !== HEADER) {
    throw new Error("the header of the file is damaged");
  }
  const disk: Disk = { ...file, read: async () => (await file.read()).subarray(HEADER.length) };
  return memoryStore({ disk });
}

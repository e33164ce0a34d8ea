/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { Disk } from "@waybill/hub";
import type { Process } from "./process.ts";
import type { Random } from "./random.ts";

export type DiskCall = "append" | "sync" | "read";

/** The fault at one call to a disk, decided for each call. */
export type DiskFault = "none" | "crash_before" | "crash_amid" | "crash_after" | "error";

export interface DiskOptions {
  readonly random: Random;
  faultOf(call: DiskCall, process: Process): DiskFault;
  latencyMs(call: DiskCall): number;
  /** The process that made the call must crash. */
  crash(process: Process): void;
}

/** A disk on which a process may crash at every call. It outlives the processes. */
export class SimulatedDisk {
  readonly #options: DiskOptions;
  readonly #synced: Uint8Array[] = [];
  /** Written, and lost if the power fails. */
  #cached: Uint8Array[] = [];

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /** The disk as one process sees it. */
  for(process: Process): Disk {
    return {
      append: (bytes) => this.#append(process, bytes),
      sync: () => this.#sync(process),
      read: () => this.#read(process),
    };
  }

  /** Loses unsynced bytes, except for a prefix. */
  losePower(): void {
    const cached = Buffer.concat(this.#cached);
    const { random } = this.#options;
    const left = random.chance(0.5) ? 0 : random.below(cached.length + 1);
    this.#cached = left === 0 ? [] : [cached.subarray(0, left)];
  }

  /** What a power failure at this moment leaves in the worst case. */
  synced(): Uint8Array {
    return Buffer.concat(this.#synced);
  }

  #append(process: Process, bytes: Uint8Array): Promise<void> {
    const copy = Buffer.from(bytes);
    return this.#call(process, "append", (isAmid) => {
      const length = isAmid ? this.#options.random.below(copy.length + 1) : copy.length;
      this.#cached.push(copy.subarray(0, length));
    });
  }

  #sync(process: Process): Promise<void> {
    return this.#call(process, "sync", (isAmid) => {
      if (isAmid) return;
      this.#synced.push(...this.#cached);
      this.#cached = [];
    });
  }

  async #read(process: Process): Promise<Uint8Array> {
    await this.#call(process, "read", () => undefined);
    return Buffer.concat([...this.#synced, ...this.#cached]);
  }

  #call(process: Process, call: DiskCall, carryOut: (isAmid: boolean) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const { faultOf, latencyMs, crash } = this.#options;
      if (!process.isAlive) return;
      const fault = faultOf(call, process);
      if (fault === "crash_before") return crash(process);
      process.after(latencyMs(call), () => {
        const isAmid = fault === "crash_amid" || fault === "error";
        carryOut(isAmid);
        if (fault === "error") reject(new Error(`${call}: input/output error`));
        else if (fault === "none") resolve();
        else crash(process);
      });
    });
  }
}

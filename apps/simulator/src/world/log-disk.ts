/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { LogFile, LogFolder } from "@waybill/store-sqlite/over-log";
import type { DiskCall, DiskOptions } from "./disk.ts";
import { FileTable } from "./file-table.ts";
import type { SimulatedFile } from "./file-table.ts";
import type { Process } from "./process.ts";

/** The folder of a store's log. A process may crash at every call, and the folder outlives it. */
export class SimulatedFolder {
  readonly #options: DiskOptions;
  readonly #files = new FileTable();

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /** The folder as one process sees it. */
  for(process: Process): LogFolder {
    return folderOver(this.#files, {
      now: (call, carryOut) => this.#now(process, call, carryOut),
      later: (call, carryOut) => this.#later(process, call, carryOut),
    });
  }

  /** Loses names and sectors that were not synced: none of them, all, or some. */
  losePower(): void {
    this.#files.losePower(this.#options.random);
  }

  /** What a power failure at this moment leaves in the worst case. */
  synced(): LogFolder {
    return folderOver(this.#files.synced(), {
      now: (_call, carryOut) => carryOut(1),
      later: async (_call, carryOut) => carryOut(1),
    });
  }

  /** A call that a process waits for without doing anything else. */
  #now(process: Process, call: DiskCall, carryOut: CarryOut): void {
    const { faultOf, crash } = this.#options;
    // It may go on running in memory, but reaches the disk no more.
    if (!process.isAlive) throw new Error("the process has crashed");
    const fault = faultOf(call, process);
    if (fault !== "crash_before") carryOut(this.#shareFor(fault));
    if (fault === "none") return;
    if (fault !== "error") crash(process);
    throw failed(call);
  }

  #later(process: Process, call: DiskCall, carryOut: CarryOut): Promise<void> {
    return new Promise((resolve, reject) => {
      const { faultOf, latencyMs, crash } = this.#options;
      if (!process.isAlive) return;
      const fault = faultOf(call, process);
      if (fault === "crash_before") return crash(process);
      process.after(latencyMs(call), () => {
        carryOut(this.#shareFor(fault));
        if (fault === "none") resolve();
        else if (fault === "error") reject(failed(call));
        else crash(process);
      });
    });
  }

  #shareFor(fault: ReturnType<DiskOptions["faultOf"]>): number {
    return fault === "crash_amid" || fault === "error" ? this.#options.random.fraction() : 1;
  }
}

function failed(call: DiskCall): Error {
  return Object.assign(new Error(`EIO: input/output error, ${call}`), { code: "EIO" });
}

/** Carries out so much of a call: less than 1 of one that fails in the middle. */
type CarryOut = (share: number) => void;

interface Calls {
  now(call: DiskCall, carryOut: CarryOut): void;
  later(call: DiskCall, carryOut: CarryOut): Promise<void>;
}

function folderOver(files: FileTable, { now, later }: Calls): LogFolder {
  const whole = (change: () => void) => (share: number) => {
    if (share === 1) change();
  };
  const fileOver = (file: SimulatedFile): LogFile => ({
    size: () => file.size,
    read: (position, length) => file.read(position, length),
    write: (bytes, position) =>
      now("append", (share) => {
        file.write(bytes.subarray(0, Math.floor(share * bytes.length)), position);
      }),
    extend: (size) =>
      later("append", (share) => {
        const zeros = Buffer.alloc(Math.max(0, size - file.size));
        file.write(zeros.subarray(0, Math.floor(share * zeros.length)), file.size);
      }),
    sync: () => later("sync", (share) => file.sync(share === 1)),
    syncNow: () => now("sync", (share) => file.sync(share === 1)),
    close: () => undefined,
  });
  return {
    names: () => files.names(),
    open: (name) => fileOver(files.open(name)),
    create(name) {
      now(
        "append",
        whole(() => files.create(name)),
      );
      return fileOver(files.open(name));
    },
    remove: (name) =>
      now(
        "append",
        whole(() => files.remove(name)),
      ),
    rename: (from, to) =>
      now(
        "append",
        whole(() => files.rename(from, to)),
      ),
    sync: () =>
      later(
        "sync",
        whole(() => files.sync()),
      ),
  };
}

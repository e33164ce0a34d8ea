/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { undoAtExit } from "./folder.ts";
import { ask } from "./probe.ts";

/** A disk of a few megabytes, in memory. Only root may create one. */
export class Disk {
  readonly #folder: string;
  readonly #bytes: readonly [number, number];
  readonly close: () => void;

  constructor(folder: string, bytes: readonly [number, number]) {
    this.#folder = folder;
    this.#bytes = bytes;
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes[0]}`, "tmpfs", folder]);
    this.close = undoAtExit(() => execFileSync("umount", ["--lazy", folder]));
  }

  /** The faults of a hub whose disk is full. */
  async judgeFull(url: string): Promise<string[]> {
    const { status } = await ask(url, "/readyz").catch(() => ({ status: 0 }));
    return status === 503 ? [] : [`/readyz says ${status} while the disk is full`];
  }

  grow(): void {
    execFileSync("mount", ["-o", `remount,size=${this.#bytes[1]}`, this.#folder]);
  }
}

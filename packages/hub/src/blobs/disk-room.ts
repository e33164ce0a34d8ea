import { WaybillError } from "@waybill/protocol";
import type { BlobStore } from "./blob-store.ts";

/** How many bytes are written between two checks of the disk. */
const LOOK_BYTES = 4 * 1024 * 1024;
const KEPT_SHARE = 0.05;
const KEPT_BYTES_MOST = 1024 ** 3;
const RETRY_AFTER_MS = 60_000;

/**
 * The space that uploads may take on a disk. They leave some of it to the ledger, without which
 * nothing can be taken into custody.
 */
export class DiskRoom {
  readonly #files: BlobStore;
  #room = 0;

  constructor(files: BlobStore) {
    this.#files = files;
  }

  /** Refuses bytes for which the disk has no room. */
  async take(bytes: number): Promise<void> {
    if (bytes > this.#room) await this.#look();
    if (bytes > this.#room) {
      throw new WaybillError(
        503,
        "The disk with this hub's blobs is almost full, and the rest is reserved for its ledger. The uploaded bytes are kept. Resume the upload once the operator has freed some space.",
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.#room -= bytes;
  }

  async #look(): Promise<void> {
    if (this.#files.space === undefined) {
      this.#room = Infinity;
      return;
    }
    const { free, total } = await this.#files.space();
    const room = free - Math.min(total * KEPT_SHARE, KEPT_BYTES_MOST);
    this.#room = Math.min(room, LOOK_BYTES);
  }
}

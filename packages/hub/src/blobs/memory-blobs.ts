import { WaybillError } from "@waybill/protocol";
import type { BlobStore, BlobWriter } from "./blob-store.ts";

/** Blobs in memory, for hubs that need not outlive their process. */
export function memoryBlobs(): BlobStore {
  return new MemoryBlobs();
}

class MemoryBlobs implements BlobStore {
  readonly #files = new Map<string, Uint8Array[]>();

  async write(name: string, at: number): Promise<BlobWriter> {
    const kept: Uint8Array[] = [];
    if (at > 0) for await (const piece of this.read(name, 0, at)) kept.push(piece);
    this.#files.set(name, kept);
    return {
      async write(bytes) {
        kept.push(Uint8Array.from(bytes));
      },
      sync: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  }

  async size(name: string): Promise<number | undefined> {
    const pieces = this.#files.get(name);
    return pieces?.reduce((size, { length }) => size + length, 0);
  }

  async *read(name: string, first: number, end: number): AsyncGenerator<Uint8Array> {
    let at = 0;
    for (const piece of this.#files.get(name) ?? []) {
      const part = piece.subarray(Math.max(0, first - at), Math.max(0, end - at));
      if (part.length > 0) yield part;
      at += piece.length;
    }
    if (at >= end) return;
    throw new WaybillError(503, `The file ${name} of the blob store ends at byte ${at}.`);
  }

  async remove(name: string): Promise<void> {
    this.#files.delete(name);
  }

  async *names(): AsyncGenerator<string> {
    yield* this.#files.keys();
  }
}

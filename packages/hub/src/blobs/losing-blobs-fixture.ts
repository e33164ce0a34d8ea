import { memoryBlobs } from "./memory-blobs.ts";
import type { BlobStore } from "./blob-store.ts";
import { all } from "./blobs-fixture.ts";

/** Blobs of which a crash leaves only what was synced. */
export interface LosingBlobs extends BlobStore {
  /** What a crash would leave now. */
  afterCrash(): Promise<BlobStore>;
}

export function losingBlobs(): LosingBlobs {
  const files = memoryBlobs();
  const synced = new Map<string, Uint8Array>();
  return {
    async write(name, at) {
      const writer = await files.write(name, at);
      return {
        write: (bytes) => writer.write(bytes),
        close: () => writer.close(),
        async sync() {
          const size = (await files.size(name)) ?? 0;
          synced.set(name, await all(files.read(name, 0, size)));
        },
      };
    },
    size: (name) => files.size(name),
    read: (name, first, end) => files.read(name, first, end),
    names: () => files.names(),
    async remove(name) {
      synced.delete(name);
      await files.remove(name);
    },
    async afterCrash() {
      const left = memoryBlobs();
      for (const [name, bytes] of synced) {
        const writer = await left.write(name, 0);
        await writer.write(bytes);
        await writer.close();
      }
      return left;
    },
  };
}

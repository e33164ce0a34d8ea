import { WaybillError } from "@waybill/protocol";
import type { HubLimits } from "../engine/options.ts";
import type { Store } from "../store.ts";
import { BLOB_ROWS } from "./rows.ts";
import type { BlobRow, UploadRow } from "./rows.ts";

type ShareLimits = Pick<HubLimits, "blobUploads" | "blobBytesPerAgent" | "blobBytesPerHub">;

/**
 * A file takes this much, however few bytes are in it: agents must not fill a disk with tiny files. What
 * is smaller fits into envelopes.
 */
const FILE_BYTES = 64 * 1024;
const PAGE = 500;
const RETRY_AFTER_MS = 60_000;

/** How much of the hub's space each agent takes: the files that it has brought in, at their full size. */
export class BlobShares {
  readonly #limits: ShareLimits;
  readonly #bytes = new Map<string, number>();
  /** Of each agent the blobs that it has begun to upload, in the order in which it has sent last. */
  readonly #uploads = new Map<string, Map<string, number>>();
  #total = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Bytes of all files. */
  get total(): number {
    return this.#total;
  }

  /** Uploads that are not complete. */
  get uploads(): number {
    let sum = 0;
    for (const { size } of this.#uploads.values()) sum += size;
    return sum;
  }

  /** Counts what is in the store. */
  async load(store: Pick<Store, "settings">): Promise<void> {
    for await (const [, value] of rowsUnder(store, BLOB_ROWS.blobs)) {
      const { by, size } = JSON.parse(value) as BlobRow;
      this.#add(by, spaceOf(size));
    }
    const begun: (UploadRow & { readonly hex: string; readonly agent: string })[] = [];
    for await (const [name, value] of rowsUnder(store, BLOB_ROWS.uploads)) {
      const row = JSON.parse(value) as UploadRow;
      const [, hex = "", agent = ""] = name.split(" ");
      if (row.file !== undefined) begun.push({ ...row, hex, agent });
    }
    for (const { agent, hex, size } of begun.toSorted((a, b) => a.at - b.at)) {
      this.begin(agent, hex, size);
    }
  }

  /** What an agent has begun to upload, the longest untouched first. */
  begunBy(agent: string): readonly string[] {
    return [...(this.#uploads.get(agent)?.keys() ?? [])];
  }

  /** Refuses an upload for which there is no room. */
  check(agent: string, size: number): void {
    const { blobUploads, blobBytesPerAgent, blobBytesPerHub } = this.#limits;
    if ((this.#uploads.get(agent)?.size ?? 0) >= blobUploads) {
      throw busy(
        `${agent} has ${blobUploads} uploads under way, the limit here. Complete one of them first.`,
      );
    }
    const bytes = this.#bytes.get(agent) ?? 0;
    if (bytes + spaceOf(size) > blobBytesPerAgent) {
      throw busy(
        `${agent} has ${bytes} bytes of blobs here, and with ${size} more it would have more than ${blobBytesPerAgent}, the limit. They are removed some time after the handoffs that name them have ended, and uploads that nothing names after a day.`,
      );
    }
    if (this.#total + spaceOf(size) <= blobBytesPerHub) return;
    throw new WaybillError(
      503,
      `This hub has no room for ${size} more bytes of blobs: ${blobBytesPerHub} is its limit. Its operator can raise it, or remove what is old.`,
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }

  /** An upload has begun. */
  begin(agent: string, hex: string, size: number): void {
    const uploads = this.#uploads.get(agent) ?? new Map<string, number>();
    this.#uploads.set(agent, uploads.set(hex, size));
    this.#add(agent, spaceOf(size));
  }

  /** An upload goes on: it is the last of its agent that would make room. */
  touch(agent: string, hex: string): void {
    const uploads = this.#uploads.get(agent);
    const size = uploads?.get(hex);
    if (size === undefined) return;
    uploads!.delete(hex);
    uploads!.set(hex, size);
  }

  /** An upload is complete, and its file is a blob now, or it has ended in another way and its file is gone. */
  end(agent: string, hex: string, isKept: boolean): void {
    const uploads = this.#uploads.get(agent);
    const size = uploads?.get(hex);
    if (size === undefined) return;
    uploads!.delete(hex);
    if (uploads!.size === 0) this.#uploads.delete(agent);
    if (!isKept) this.remove(agent, size);
  }

  /** Another agent keeps the file now. */
  move(from: string, to: string, size: number): void {
    this.remove(from, size);
    this.#add(to, spaceOf(size));
  }

  /** A file is gone. */
  remove(agent: string, size: number): void {
    this.#add(agent, -spaceOf(size));
  }

  #add(agent: string, bytes: number): void {
    const sum = (this.#bytes.get(agent) ?? 0) + bytes;
    if (sum > 0) this.#bytes.set(agent, sum);
    else this.#bytes.delete(agent);
    this.#total += bytes;
  }
}

function spaceOf(size: number): number {
  return Math.max(size, FILE_BYTES);
}

function busy(message: string): WaybillError {
  return new WaybillError(301, message, { retryAfterMs: RETRY_AFTER_MS });
}

/** All rows whose names begin so: name and value. */
export async function* rowsUnder(
  store: Pick<Store, "settings">,
  prefix: string,
): AsyncGenerator<readonly [string, string]> {
  for (let after: string | undefined; ;) {
    const page = await store.settings(prefix, {
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    for (const { name, value } of page) yield [name, value];
    if (page.length < PAGE) return;
    after = page.at(-1)!.name;
  }
}

import { WaybillError } from "@waybill/protocol";
import type { HubLimits } from "../engine/options.ts";
import type { Store } from "../store.ts";
import type { BlobStore } from "./blob-store.ts";
import { BLOB_ROWS } from "./rows.ts";
import type { BlobRow, UploadRow } from "./rows.ts";

type ShareLimits = Pick<
  HubLimits,
  "blobUploads" | "blobUploadsPerHub" | "blobBytesPerAgent" | "blobBytesPerHub"
>;

/** An upload that is not complete. */
interface Begun {
  readonly size: number;
  /** The space of its file. */
  taken: number;
  /** When bytes have last arrived. */
  at: number;
}

/** The agent and the blob of an upload. */
export interface BegunUpload {
  readonly agent: string;
  readonly hex: string;
}

/**
 * The least space that a file counts for, so that agents can't fill a disk with tiny files. Smaller
 * content fits into envelopes.
 */
const FILE_BYTES = 64 * 1024;
const PAGE = 500;
const RETRY_AFTER_MS = 60_000;

/**
 * How the hub's space is used. For an agent an upload counts with its full size from the start. For
 * the hub the arrived bytes count, so that nobody takes its space by announcing what never arrives.
 */
export class BlobShares {
  readonly #limits: ShareLimits;
  readonly #bytes = new Map<string, number>();
  /** The unfinished blobs of each agent, in the order of their last activity. */
  readonly #uploads = new Map<string, Map<string, Begun>>();
  #total = 0;
  #begun = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Bytes of all files. */
  get total(): number {
    return this.#total;
  }

  /** Uploads that are not complete. */
  get uploads(): number {
    return this.#begun;
  }

  /**
   * Counts what is in the store. The timeouts of uploads restart now, since nothing could arrive
   * meanwhile.
   */
  async load(
    store: Pick<Store, "settings">,
    files: Pick<BlobStore, "size">,
    now: number,
  ): Promise<void> {
    this.#bytes.clear();
    this.#uploads.clear();
    this.#total = 0;
    this.#begun = 0;
    for await (const [, value] of rowsUnder(store, BLOB_ROWS.blobs)) {
      const { by, size } = JSON.parse(value) as BlobRow;
      this.#add(by, spaceOf(size));
      this.#total += spaceOf(size);
    }
    const begun: (UploadRow & { readonly hex: string; readonly agent: string })[] = [];
    for await (const [name, value] of rowsUnder(store, BLOB_ROWS.uploads)) {
      const row = JSON.parse(value) as UploadRow;
      const [, hex = "", agent = ""] = name.split(" ");
      if (row.file !== undefined) begun.push({ ...row, hex, agent });
    }
    for (const { agent, hex, size, file } of begun.toSorted((a, b) => a.at - b.at)) {
      this.begin(agent, hex, size, now);
      const arrived = (await files.size(file!)) ?? 0;
      this.#take(this.#uploads.get(agent)!.get(hex)!, arrived);
    }
  }

  /** Bytes of an agent's blobs and uploads, at their full size. */
  bytesOf(agent: string): number {
    return this.#bytes.get(agent) ?? 0;
  }

  /** The unfinished uploads of an agent, least recently active first. */
  begunBy(agent: string): readonly BegunUpload[] {
    return [...(this.#uploads.get(agent)?.keys() ?? [])].map((hex) => ({ agent, hex }));
  }

  /** The matching upload of any agent that has sent least. */
  least(fits: (upload: BegunUpload) => boolean): BegunUpload | undefined {
    let least: (BegunUpload & Begun) | undefined;
    for (const [agent, uploads] of this.#uploads) {
      for (const [hex, begun] of uploads) {
        const isLess =
          least === undefined ||
          begun.taken < least.taken ||
          (begun.taken === least.taken && begun.at < least.at);
        if (isLess && fits({ agent, hex })) least = { ...begun, agent, hex };
      }
    }
    return least;
  }

  /** When bytes of an upload have last arrived; undefined if it is complete or gone. */
  arrivedAt(agent: string, hex: string): number | undefined {
    return this.#uploads.get(agent)?.get(hex)?.at;
  }

  /** Refuses an upload for which there is no room: 301 if its agent can make some, 503 otherwise. */
  check(agent: string, size: number): void {
    const { blobUploads, blobUploadsPerHub, blobBytesPerAgent } = this.#limits;
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
    if (this.#begun >= blobUploadsPerHub) {
      throw new WaybillError(
        503,
        `Agents have ${blobUploadsPerHub} unfinished uploads at this hub, which is the limit. Start this one later.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.#checkHub(spaceOf(size));
  }

  /** An upload has begun. */
  begin(agent: string, hex: string, size: number, at: number): void {
    const uploads = this.#uploads.get(agent) ?? new Map<string, Begun>();
    const begun = { size, taken: FILE_BYTES, at };
    this.#uploads.set(agent, uploads.set(hex, begun));
    this.#begun++;
    this.#add(agent, spaceOf(size));
    this.#total += begun.taken;
  }

  /** An upload resumes at an offset: it is the last of its agent's to make room. */
  goOn(agent: string, hex: string, from: number, at: number): void {
    const uploads = this.#uploads.get(agent);
    const begun = uploads?.get(hex);
    if (begun === undefined) return;
    uploads!.delete(hex);
    uploads!.set(hex, begun);
    begun.at = at;
    this.#take(begun, from);
  }

  /** More of an upload is about to be written; a 503 if the hub has no room for it. */
  arrive(agent: string, hex: string, arrived: number, at: number): void {
    const begun = this.#uploads.get(agent)?.get(hex);
    if (begun === undefined) return;
    const more = spaceOf(arrived) - begun.taken;
    if (more > 0) this.#checkHub(more);
    begun.at = at;
    this.#take(begun, arrived);
  }

  /** An upload is complete, and its file is a blob now, or it has ended otherwise and its file is removed. */
  end(agent: string, hex: string, isKept: boolean): void {
    const uploads = this.#uploads.get(agent);
    const begun = uploads?.get(hex);
    if (begun === undefined) return;
    uploads!.delete(hex);
    this.#begun--;
    if (uploads!.size === 0) this.#uploads.delete(agent);
    if (isKept) return this.#take(begun, begun.size);
    this.#add(agent, -spaceOf(begun.size));
    this.#total -= begun.taken;
  }

  /** The file counts against another agent now. */
  move(from: string, to: string, size: number): void {
    this.#add(from, -spaceOf(size));
    this.#add(to, spaceOf(size));
  }

  /** A file was removed. */
  remove(agent: string, size: number): void {
    this.#add(agent, -spaceOf(size));
    this.#total -= spaceOf(size);
  }

  #checkHub(more: number): void {
    const { blobBytesPerHub } = this.#limits;
    if (this.#total + more <= blobBytesPerHub) return;
    throw new WaybillError(
      503,
      `This hub has no room for ${more} more bytes of blobs: ${blobBytesPerHub} is its limit. Its operator can raise the limit, or remove old blobs.`,
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }

  #take(begun: Begun, arrived: number): void {
    this.#total += spaceOf(arrived) - begun.taken;
    begun.taken = spaceOf(arrived);
  }

  #add(agent: string, bytes: number): void {
    const sum = (this.#bytes.get(agent) ?? 0) + bytes;
    if (sum > 0) this.#bytes.set(agent, sum);
    else this.#bytes.delete(agent);
  }
}

/** What a file of so many bytes takes. */
export function spaceOf(size: number): number {
  return Math.max(size, FILE_BYTES);
}

function busy(message: string): WaybillError {
  return new WaybillError(301, message, { retryAfterMs: RETRY_AFTER_MS });
}

/** All rows with a name prefix: name and value. */
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

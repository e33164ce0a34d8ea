import type { Digest, Envelope } from "@waybill/protocol";
import { WaybillError } from "@waybill/protocol";
import type { BlobContent, BlobPut, BlobRead, Blobs, BlobUpload } from "@waybill/protocol/wire";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { VersionedRecord, HandoffRecord } from "../custody/handoff-record.ts";
import { Collector } from "./collector.ts";
import type { BlobContext } from "./context.ts";
import { bindBlobs, nameBlobs } from "./naming.ts";
import { BlobRights } from "./rights.ts";
import { BLOB_ROWS } from "./rows.ts";
import type { BlobRow, UploadRow } from "./rows.ts";
import { BlobShares, rowsUnder } from "./shares.ts";
import { Uploads } from "./uploads.ts";

export interface BlobCustodyOptions extends Pick<
  BlobContext,
  "store" | "files" | "writer" | "clock" | "newId" | "limits"
> {
  readonly load: (handoffId: string) => Promise<VersionedRecord | undefined>;
  readonly failed: (error: unknown) => void;
  readonly assertOpen: () => void;
}

/** The blobs of a hub: uploads, rights to read and refer to them, and retention. */
export class BlobCustody implements Blobs {
  readonly shares: BlobShares;
  readonly #options: BlobCustodyOptions;
  readonly #context: BlobContext;
  readonly #rights: BlobRights;
  readonly #uploads: Uploads;
  readonly #collector: Collector;
  #receivedBytes = 0;
  #counted: Promise<void> | undefined;
  #cleaned: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: BlobCustodyOptions) {
    const { store, files, writer, clock, newId, limits, load, failed } = options;
    this.#options = options;
    this.shares = new BlobShares(limits);
    this.#context = {
      store,
      files,
      writer,
      clock,
      newId,
      limits,
      shares: this.shares,
      due: (at) => this.#collector.note(at),
      release: (upload) => this.#collector.release(upload),
      received: (bytes) => (this.#receivedBytes += bytes),
    };
    this.#rights = new BlobRights(store);
    this.#uploads = new Uploads(this.#context, this.#rights);
    this.#collector = new Collector({
      context: this.#context,
      rights: this.#rights,
      uploads: this.#uploads,
      load,
      failed,
    });
  }

  /** Bytes of uploads since the hub was opened. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /**
   * Counts the files, and removes those without a row or overdue. Only uploads wait for the count,
   * whose time depends on the number of blobs.
   */
  start(): void {
    this.#cleaned = this.#count()
      .then(() => this.#removeOrphans())
      .then(() => this.#collector.start())
      .catch((error: unknown) => {
        if (!this.#isClosed) this.#options.failed(error);
      });
  }

  /** Starts over if the store has failed. */
  #count(): Promise<void> {
    const { store, files, clock } = this.#context;
    return (this.#counted ??= this.shares
      .load(store, files, clock.now())
      .catch((error: unknown) => {
        this.#counted = undefined;
        throw error;
      }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#uploads.close(
      new WaybillError(503, "The hub has closed; resume the upload once it is back."),
    );
    await this.#collector.stop();
    await this.#cleaned;
  }

  async put(upload: BlobPut, bytes: AsyncIterable<Uint8Array>): Promise<BlobUpload> {
    this.#options.assertOpen();
    await this.#count();
    return this.#uploads.put(upload, bytes);
  }

  async upload({
    digest,
    as,
  }: {
    readonly digest: Digest;
    readonly as: string;
  }): Promise<BlobUpload> {
    this.#options.assertOpen();
    return this.#uploads.of(digest, as);
  }

  async read({ digest, as, ...range }: BlobRead): Promise<BlobContent> {
    this.#options.assertOpen();
    return this.#range(await this.#rights.readable(digest, as), range);
  }

  /** The bytes of a blob for an operator, who may read every handoff. */
  async readAsOperator({ digest, ...range }: Omit<BlobRead, "as" | "sign">): Promise<BlobContent> {
    this.#options.assertOpen();
    return this.#range(await this.#rights.readableByOperator(digest), range);
  }

  #range(
    { size, file }: BlobRow,
    { first = 0, end }: Pick<BlobRead, "first" | "end">,
  ): BlobContent {
    const last = end ?? size;
    if (!(first >= 0 && first <= last && last <= size)) {
      throw new WaybillError(
        400,
        `The blob has ${size} bytes, so there is no part from ${first} to ${last}.`,
      );
    }
    return { size, bytes: this.#context.files.read(file, first, last) };
  }

  /** Checks the references of an envelope, and adds them to the commit that takes it. */
  name(
    transaction: HandoffTransaction,
    envelope: Envelope,
    original?: HandoffRecord,
  ): Promise<void> {
    return nameBlobs(this.#rights, transaction, envelope, original);
  }

  /** Adds to a commit its consequences for the blobs of its handoff. */
  bind(transaction: HandoffTransaction): Promise<void> {
    return bindBlobs(this.#context, transaction);
  }

  /** The end of a handoff with blobs is on disk. */
  ended(at: number): void {
    this.#collector.note(at + this.#context.limits.blobKeptMs);
  }

  /** Files whose rows are gone, or that never had any: a crash came in between. */
  async #removeOrphans(): Promise<void> {
    for await (const name of this.#context.files.names()) {
      if (this.#isClosed) return;
      if (await this.#isNamed(name)) continue;
      await this.#context.files.remove(name);
    }
  }

  /**
   * A row is written before its file, so a file that was seen without a row is orphaned. Uploads are
   * read first: one that is completed meanwhile has moved its file to the row of the blob by then.
   */
  async #isNamed(file: string): Promise<boolean> {
    const [hex = ""] = file.split(".");
    for await (const [, value] of rowsUnder(this.#context.store, BLOB_ROWS.uploadsOf(hex))) {
      if ((JSON.parse(value) as UploadRow).file === file) return true;
    }
    return (await this.#rights.blob(hex))?.row.file === file;
  }
}

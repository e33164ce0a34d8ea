/// <reference types="node" />
import { createHash } from "node:crypto";
import { commitOne } from "../commit-each.ts";
import { WaybillError } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { checkBlobPart, checkUploadedBlob } from "@waybill/protocol/wire";
import type { BlobPut, BlobUpload } from "@waybill/protocol/wire";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { KeyedQueue } from "../keyed-queue.ts";
import type { KnownOutcome, SettingChange } from "../store.ts";
import type { BlobContext } from "./context.ts";
import { DiskRoom } from "./disk-room.ts";
import { agentDue, BLOB_ROWS, hexOf, readDue } from "./rows.ts";
import type { BlobRow, UploadRow } from "./rows.ts";
import type { BlobRights } from "./rights.ts";
import { spaceOf } from "./shares.ts";
import type { BegunUpload } from "./shares.ts";

/** How many blobs of one agent that have come in parts are read again at a time. */
const HASHED_AGAIN_AT_ONCE = 1;
/** Whoever has uploaded a blob has this long to name it, however full the hub is. */
const UNNAMED_MS = 60_000;
/** How many rows one refused upload looks through. */
const DUES_LOOKED_AT = 100;

/** An upload in progress, and its file. */
interface Receiving extends BlobPut {
  readonly hex: string;
  readonly from: number;
  readonly file: string;
  readonly signal: AbortSignal;
}

/** Receives the bytes of blobs: one upload at a time for each agent and blob, to a file of its own. */
export class Uploads {
  readonly #context: BlobContext;
  readonly #rights: BlobRights;
  readonly #disk: DiskRoom;
  readonly #queue = new KeyedQueue();
  /** Its bytes have no turn to wait for, as those of a socket have. */
  readonly #hashing = new ConcurrencyLimit(HASHED_AGAIN_AT_ONCE);
  /** The newest upload of each agent and blob. */
  readonly #newest = new Map<string, AbortController>();
  /** Up to where it was looked for blobs that may make room. */
  #lookedAt: string | undefined;

  constructor(context: BlobContext, rights: BlobRights) {
    this.#context = context;
    this.#rights = rights;
    this.#disk = new DiskRoom(context.files);
  }

  /** How much the hub has of a blob from this agent. */
  async of(digest: Digest, agent: string): Promise<BlobUpload> {
    const whole = await this.#rights.sizeFor(digest, agent);
    if (whole !== undefined) return { received: whole, size: whole, isComplete: true };
    const { row } = await this.#rights.upload(hexOf(digest), agent);
    return row === undefined
      ? { received: 0, isComplete: false }
      : { received: await this.#received(row), size: row.size, isComplete: false };
  }

  /** Whether bytes of it are being received. */
  isReceiving(hex: string, agent: string): boolean {
    return this.#newest.has(keyOf(hex, agent));
  }

  /**
   * Receives bytes from an offset on. A later call for the same agent and blob ends one that is under
   * way.
   */
  async put(
    { digest, size, as, from = 0 }: BlobPut,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<BlobUpload> {
    const { blobBytes } = this.#context.limits;
    if (!isCount(size) || !isCount(from) || from > size) {
      throw new WaybillError(
        400,
        `An upload must state the size of the blob and its first byte: ${from} of ${size} is not valid.`,
      );
    }
    if (size > blobBytes) {
      throw new WaybillError(
        413,
        `The blob has ${size} bytes, and the limit of this hub is ${blobBytes}. Use an artifact with a url instead.`,
      );
    }
    const hex = hexOf(digest);
    const key = keyOf(hex, as);
    const own = new AbortController();
    this.#newest.get(key)?.abort(supersededUpload(digest));
    this.#newest.set(key, own);
    try {
      return await this.#queue.run(key, async () => {
        const whole = await this.#rights.sizeFor(digest, as);
        if (whole !== undefined) return { received: whole, size: whole, isComplete: true };
        own.signal.throwIfAborted();
        const file = await this.#begin({ digest, size, as, from }, hex);
        return this.#receive({ digest, size, as, from, hex, file, signal: own.signal }, bytes);
      });
    } finally {
      if (this.#newest.get(key) === own) this.#newest.delete(key);
    }
  }

  /** Ends all uploads; their bytes so far are kept. */
  async close(reason: WaybillError): Promise<void> {
    for (const each of this.#newest.values()) each.abort(reason);
    await this.#queue.idle();
  }

  /** Records that the agent uploads the blob, and to which file, before there is a file. */
  async #begin({ digest, size, as, from = 0 }: BlobPut, hex: string): Promise<string> {
    const { shares, limits, clock, newId } = this.#context;
    const { text, row } = await this.#rights.upload(hex, as);
    const received = row === undefined ? 0 : await this.#received(row);
    checkBlobPart({ first: from, size }, { received, size: row?.size });
    const at = clock.now();
    const isOther = row !== undefined && row.size !== size;
    if (isOther) shares.end(as, hex, false);
    try {
      if (row === undefined || isOther) await this.#makeRoom(as, size);
    } catch (error) {
      if (isOther) shares.begin(as, hex, row.size, at);
      throw error;
    }
    if (row === undefined || isOther) shares.begin(as, hex, size, at);
    shares.goOn(as, hex, from, at);
    const due = row?.due ?? at + limits.blobIdleMs;
    const next: UploadRow = { size, at, due, file: row?.file ?? `${hex}.${newId()}` };
    const changes = [
      { name: BLOB_ROWS.upload(hex, as), from: text, to: JSON.stringify(next) },
      ...(row === undefined ? [this.#dueOf(hex, as, due)] : []),
    ];
    try {
      const outcome = await this.#commit(changes);
      if (outcome.type !== "committed") throw changedUpload(digest);
    } catch (error) {
      if (row === undefined || isOther) shares.end(as, hex, false);
      if (isOther) shares.begin(as, hex, row.size, at);
      throw error;
    }
    this.#context.due(due);
    return next.file!;
  }

  /** Refuses an upload for which there is no room, and which can't get any from others. */
  async #makeRoom(agent: string, size: number): Promise<void> {
    const { shares } = this.#context;
    // Nothing runs between this check and its consequences.
    const sum = shares.bytesOf(agent) + spaceOf(size);
    await this.#inRoom(agent, sum, () => shares.check(agent, size));
  }

  /**
   * Uploads that do not go on make room for what is refused: of the same agent the longest untouched
   * first, of all agents the one that has sent least. After them, blobs that no envelope names, of those
   * who have more here than `sum`, which the agent will have.
   */
  async #inRoom(agent: string, sum: number, take: () => void): Promise<void> {
    const { shares } = this.#context;
    for (;;) {
      try {
        return take();
      } catch (error) {
        const isIdle = (each: BegunUpload) => !this.isReceiving(each.hex, each.agent);
        const isOwn = WaybillError.is(error, 301);
        const idle = isOwn ? shares.begunBy(agent).find(isIdle) : shares.least(isIdle);
        if (idle !== undefined) await this.#giveUp(idle);
        else if (isOwn || !(await this.#releaseUnnamed(sum))) throw error;
      }
    }
  }

  /**
   * Ends the oldest upload that no envelope names, of an agent that has more here than so much: whoever
   * fills the hub keeps nobody from uploading. It looks at a few at a time, and goes on after them the
   * next time.
   */
  async #releaseUnnamed(sum: number): Promise<boolean> {
    const { store, shares, clock, release } = this.#context;
    const after = this.#lookedAt;
    const page = await store.settings(BLOB_ROWS.dues, {
      limit: DUES_LOOKED_AT,
      ...(after !== undefined && { after }),
    });
    this.#lookedAt = page.length < DUES_LOOKED_AT ? undefined : page.at(-1)!.name;
    for (const { name } of page) {
      const { hex, whose } = readDue(name);
      const [type, agent = ""] = whose.split(":");
      if (type !== "agent" || shares.bytesOf(agent) <= sum) continue;
      const { row } = await this.#rights.upload(hex, agent);
      if (row === undefined || row.at + UNNAMED_MS > clock.now()) continue;
      if (await release({ hex, agent })) return true;
    }
    return false;
  }

  async #giveUp({ agent, hex }: BegunUpload): Promise<void> {
    const { row } = await this.#rights.upload(hex, agent);
    if (row?.file === undefined) this.#context.shares.end(agent, hex, false);
    else await this.#discard({ hex, as: agent, file: row.file });
  }

  /** Reserves the room that the next bytes need, of the hub and its disk. */
  async #book({ as, hex }: Receiving, at: number, bytes: number): Promise<void> {
    const { shares, clock } = this.#context;
    const take = () => shares.arrive(as, hex, at + bytes, clock.now());
    await this.#inRoom(as, shares.bytesOf(as), take);
    await this.#disk.take(bytes);
  }

  async #receive(receiving: Receiving, bytes: AsyncIterable<Uint8Array>): Promise<BlobUpload> {
    const { digest, size, from, file, signal } = receiving;
    const { files } = this.#context;
    const hash = from === 0 ? createHash("sha256") : undefined;
    const writer = await files.write(file, from);
    let at = from;
    try {
      for await (const piece of until(bytes, signal)) {
        const fitting = piece.subarray(0, size - at);
        // What the slot was awaited for is done at once, before anything else is awaited.
        hash?.update(fitting);
        await this.#book(receiving, at, fitting.length);
        await writer.write(fitting);
        at += fitting.length;
        this.#context.received(fitting.length);
        if (fitting.length < piece.length) {
          throw new WaybillError(
            400,
            `More bytes arrived for the blob ${digest} than its stated size, ${size}.`,
          );
        }
      }
      await writer.sync();
    } finally {
      await writer.close();
    }
    if (at < size) return { received: at, size, isComplete: false };
    const uploaded =
      hash === undefined
        ? await this.#hashing.run(receiving.as, () => this.#digestOf(file, size))
        : hexDigest(hash);
    try {
      checkUploadedBlob(digest, uploaded);
    } catch (error) {
      await this.#discard(receiving);
      throw error;
    }
    await this.#complete(receiving);
    return { received: size, size, isComplete: true };
  }

  async #digestOf(file: string, size: number): Promise<Digest> {
    const hash = createHash("sha256");
    for await (const piece of this.#context.files.read(file, 0, size)) hash.update(piece);
    return hexDigest(hash);
  }

  /** From this commit on the blob is there for this agent. If the hub has it already, one file suffices. */
  async #complete({ digest, hex, as, size, file }: Receiving): Promise<void> {
    const { store, clock, limits, files, shares } = this.#context;
    const name = BLOB_ROWS.blob(hex);
    for (;;) {
      const { text, row } = await this.#rights.upload(hex, as);
      if (row?.file !== file) throw changedUpload(digest);
      const known = await store.setting(name);
      const at = clock.now();
      const due = at + limits.blobUnclaimedMs;
      const next: UploadRow = { size, at, due };
      const added: BlobRow = { size, file, by: as };
      const outcome = await this.#commit([
        { name: BLOB_ROWS.upload(hex, as), from: text, to: JSON.stringify(next) },
        ...(row.due === due
          ? []
          : [...(await this.#rights.withoutDue(hex, as, row)), this.#dueOf(hex, as, due)]),
        known === undefined ? { name, from: null, to: JSON.stringify(added) } : stayed(name, known),
      ]);
      if (outcome.type !== "committed") continue;
      shares.end(as, hex, known === undefined);
      if (known !== undefined) await files.remove(file);
      return;
    }
  }

  async #discard({ hex, as, file }: Pick<Receiving, "hex" | "as" | "file">): Promise<void> {
    const { text, row } = await this.#rights.upload(hex, as);
    if (row?.file !== file) return;
    const { type } = await this.#commit([
      { name: BLOB_ROWS.upload(hex, as), from: text, to: null },
      ...(await this.#rights.withoutDue(hex, as, row)),
    ]);
    // It has resumed.
    if (type !== "committed") return;
    await this.#context.files.remove(file);
    this.#context.shares.end(as, hex, false);
  }

  #dueOf(hex: string, agent: string, due: number): SettingChange {
    return { name: BLOB_ROWS.due(due, hex, agentDue(agent)), from: null, to: "" };
  }

  async #received({ file, size }: UploadRow): Promise<number> {
    if (file === undefined) return size;
    return Math.min(size, (await this.#context.files.size(file)) ?? 0);
  }

  #commit(settings: readonly SettingChange[]): Promise<KnownOutcome> {
    return commitOne(this.#context.writer, { handoff: null, entries: [], settings });
  }
}

/** The change that keeps a blob: removes its mark, or only compares an unmarked row. */
export function stayed(name: string, text: string): SettingChange {
  const { size, file, by } = JSON.parse(text) as BlobRow;
  return { name, from: text, to: JSON.stringify({ size, file, by } satisfies BlobRow) };
}

/** The bytes until the upload is replaced: a silent source must not keep it from ending. */
async function* until(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  // One listener for all steps: racing against a long-lived promise would leak.
  let stop = (_reason: Error) => undefined as void;
  signal.addEventListener("abort", () => stop(signal.reason as Error), { once: true });
  let hasEnded = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        stop = reject;
        iterator.next().then(resolve, reject);
      });
      hasEnded = next.done === true;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // A source that waits for its next bytes reacts when they come, if ever.
    if (!hasEnded) iterator.return?.().catch(() => undefined);
  }
}

function keyOf(hex: string, agent: string): string {
  return `${hex} ${agent}`;
}

function hexDigest(hash: ReturnType<typeof createHash>): Digest {
  return `sha256:${hash.digest("hex")}`;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function supersededUpload(digest: Digest): WaybillError {
  return new WaybillError(
    409,
    `Another upload of the blob ${digest} by the same agent has taken over.`,
  );
}

function changedUpload(digest: Digest): WaybillError {
  return new WaybillError(
    503,
    `The upload of the blob ${digest} has changed meanwhile; ask how much has arrived, and resume from there.`,
    { retryAfterMs: 0 },
  );
}

import type { VersionedRecord } from "../custody/handoff-record.ts";
import { commitOne } from "../commit-each.ts";
import { DeadlineTimer } from "../deadline-timer.ts";
import type { SettingChange } from "../store.ts";
import type { BlobContext } from "./context.ts";
import { readersOf } from "./naming.ts";
import type { BlobRights } from "./rights.ts";
import { agentDue, BLOB_ROWS, readDue } from "./rows.ts";
import type { BlobRow, UploadRow } from "./rows.ts";
import type { BegunUpload } from "./shares.ts";
import type { Uploads } from "./uploads.ts";

const PAGE = 100;
const PAUSE_AFTER_FAILURE_MS = 1_000;

export interface CollectorOptions {
  readonly context: BlobContext;
  readonly rights: BlobRights;
  readonly uploads: Uploads;
  readonly load: (handoffId: string) => Promise<VersionedRecord | undefined>;
  readonly failed: (error: unknown) => void;
}

/** Removes blobs to which nobody has a right any more. It holds one timer; all times are in the store. */
export class Collector {
  readonly #options: CollectorOptions;
  readonly #timer: DeadlineTimer;
  #isStopped = false;
  #hasStarted = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#timer = new DeadlineTimer(options.context.clock, () => this.#lookAtDue());
  }

  /** Something is due at this time. */
  note(at: number): void {
    if (this.#hasStarted) this.#timer.note(at);
  }

  /** Starts with what has become due while the hub was down, including what is noted before this. */
  async start(): Promise<void> {
    this.#hasStarted = true;
    const [first] = await this.#options.context.store.settings(BLOB_ROWS.dues, { limit: 1 });
    if (first !== undefined) this.note(readDue(first.name).at);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#timer.stop();
  }

  async #lookAtDue(): Promise<void> {
    try {
      await this.run();
    } catch (error) {
      this.#options.failed(error);
      this.note(this.#options.context.clock.now() + PAUSE_AFTER_FAILURE_MS);
    }
  }

  /** Processes everything that is due, and arms the timer for the next time. */
  async run(): Promise<void> {
    const { store, clock } = this.#options.context;
    for (let after: string | undefined; !this.#isStopped;) {
      const page = await store.settings(BLOB_ROWS.dues, {
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      for (const { name } of page) {
        const due = readDue(name);
        if (this.#isStopped) return;
        if (due.at > clock.now()) return this.note(due.at);
        await this.#look(name, due);
        after = name;
      }
      if (page.length < PAGE) return this.#noteFirst();
    }
  }

  /** Postponed rows, and rows that were changed meanwhile, are processed at their new time. */
  async #noteFirst(): Promise<void> {
    const { store, clock } = this.#options.context;
    const [first] = await store.settings(BLOB_ROWS.dues, { limit: 1 });
    if (first === undefined) return;
    this.note(Math.max(readDue(first.name).at, clock.now() + PAUSE_AFTER_FAILURE_MS));
  }

  /** The due row is deleted last: until then all of this is repeated after a crash. */
  async #look(name: string, { hex, whose }: ReturnType<typeof readDue>): Promise<void> {
    const [type, id = ""] = whose.split(":");
    const hasEnded =
      type === "agent" ? await this.#endUpload(name, hex, id) : await this.#endHold(hex, id);
    if (!hasEnded) return;
    await this.#removeIfFree(hex);
    await this.#change([{ name, from: "", to: null }]);
  }

  /**
   * Ends an upload that no envelope has referred to in time; false if it goes on, and is checked again
   * later.
   */
  async #endUpload(due: string, hex: string, agent: string): Promise<boolean> {
    const { rights, uploads, context } = this.#options;
    const { limits, clock, files, shares } = context;
    const { text, row } = await rights.upload(hex, agent);
    if (row === undefined || BLOB_ROWS.due(row.due, hex, agentDue(agent)) !== due) return true;
    const isReceiving = uploads.isReceiving(hex, agent);
    const end = isReceiving
      ? clock.now() + limits.blobIdleMs
      : row.file === undefined
        ? row.at + limits.blobUnclaimedMs
        : (shares.arrivedAt(agent, hex) ?? row.at) + limits.blobIdleMs;
    const name = BLOB_ROWS.upload(hex, agent);
    if (end > clock.now()) {
      const kept: UploadRow = { ...row, due: end };
      await this.#change([
        { name, from: text, to: JSON.stringify(kept) },
        { name: due, from: "", to: null },
        { name: BLOB_ROWS.due(end, hex, agentDue(agent)), from: null, to: "" },
      ]);
      return false;
    }
    if (!(await this.#change([{ name, from: text, to: null }]))) return false;
    if (row.file === undefined) return true;
    await files.remove(row.file);
    shares.end(agent, hex, false);
    return true;
  }

  /** Ends an upload that is complete before its time, unless an envelope names it meanwhile. */
  async release({ hex, agent }: BegunUpload): Promise<boolean> {
    const { rights } = this.#options;
    const { text, row } = await rights.upload(hex, agent);
    if (row === undefined || row.file !== undefined) return false;
    const hasEnded = await this.#change([
      { name: BLOB_ROWS.upload(hex, agent), from: text, to: null },
      ...(await rights.withoutDue(hex, agent, row)),
    ]);
    if (hasEnded) await this.#removeIfFree(hex);
    return hasEnded;
  }

  /** The handoff has ended long enough ago: its parties lose their right to the blob. */
  async #endHold(hex: string, id: string): Promise<boolean> {
    const { context, load } = this.#options;
    const found = await load(id);
    if (found === undefined) return true;
    const readers = readersOf({ ...found.record, blobs: [hex] });
    const known = await Promise.all(
      readers.map(async (name) => [name, await context.store.setting(name)] as const),
    );
    return this.#change(
      known.flatMap(([name, from]) => (from === undefined ? [] : [{ name, from, to: null }])),
    );
  }

  /**
   * Removes a blob to which nobody has a right. It is marked first. A commit that refers to a blob
   * checks its row: a commit before the mark is seen here after marking; a commit after the mark
   * removes it, and the removal fails.
   */
  async #removeIfFree(hex: string): Promise<void> {
    const { rights, context } = this.#options;
    const found = await rights.blob(hex);
    if (found === undefined) return;
    const name = BLOB_ROWS.blob(hex);
    const { size, file, by } = found.row;
    const keeper = await this.#keeperOf(hex, by);
    if (keeper === by) return;
    if (keeper !== undefined) {
      // The uploader is not charged for what others keep.
      const kept = JSON.stringify({ size, file, by: keeper } satisfies BlobRow);
      if (await this.#change([{ name, from: found.text, to: kept }])) {
        context.shares.move(by, keeper, size);
      }
      return;
    }
    const marked = JSON.stringify({ size, file, by, is_leaving: true } satisfies BlobRow);
    if (!(await this.#change([{ name, from: found.text, to: marked }]))) return;
    if ((await this.#keeperOf(hex, by)) !== undefined) {
      const kept = JSON.stringify({ size, file, by } satisfies BlobRow);
      await this.#change([{ name, from: marked, to: kept }]);
      return;
    }
    if (!(await this.#change([{ name, from: marked, to: null }]))) return;
    await context.files.remove(file);
    context.shares.remove(by, size);
  }

  /** An agent with a right to a blob, preferably its uploader; undefined if there is none. */
  async #keeperOf(hex: string, by: string): Promise<string | undefined> {
    const { context, rights } = this.#options;
    const { store } = context;
    if (await rights.isReader(hex, by)) return by;
    const { row } = await rights.upload(hex, by);
    if (row !== undefined && row.file === undefined) return by;
    const [reader] = await store.settings(BLOB_ROWS.readers(hex), { limit: 1 });
    if (reader !== undefined) return reader.name.split(" ")[2]!;
    for (let after: string | undefined; ;) {
      const page = await store.settings(BLOB_ROWS.uploadsOf(hex), {
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      const whole = page.find(({ value }) => (JSON.parse(value) as UploadRow).file === undefined);
      if (whole !== undefined) return whole.name.split(" ")[2]!;
      if (page.length < PAGE) return undefined;
      after = page.at(-1)!.name;
    }
  }

  async #change(settings: readonly SettingChange[]): Promise<boolean> {
    if (settings.length === 0) return true;
    const { writer } = this.#options.context;
    return (await commitOne(writer, { handoff: null, entries: [], settings })).type === "committed";
  }
}

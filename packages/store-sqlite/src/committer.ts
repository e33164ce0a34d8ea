/// <reference types="node" />
import type { Log } from "./log/log.ts";
import { FullLog } from "./log/log.ts";
import type { Place } from "./log/place.ts";
import type { Line } from "./log/line.ts";
import type { Change, ChangeResult, GroupFrame } from "./group-frame.ts";

/** What a committer needs of the store. */
export interface CommitterParts {
  readonly log: Log;
  /** An empty frame at the end of the log. */
  begin(): GroupFrame;
  /** Settles when the next frame may be written. */
  ready(): Promise<void>;
  /** Called when a frame is on disk, before anybody is told. */
  written(place: Place, lines: readonly Line[]): void;
}

interface Group {
  readonly changes: readonly Change[];
  resolve(results: readonly ChangeResult[]): void;
  reject(error: unknown): void;
}

/** So few changes, with nothing else under way, are synced faster here than by another thread. */
const INLINE_CHANGES_AT_MOST = 2;
/** After a time with more changes, more will follow, and the hub works while the disk does. */
const BUSY_FOR_MS = 50;
/** After a slow sync the others are left to another thread, and this is tried again after a while. */
const SLOW_MS = 4;
const SLOW_FOR_MS = 1_000;

/**
 * Commits groups: everything that waits is one frame, one write and one sync, while the hub goes on.
 * The next frame is decided when this one is on disk.
 */
export class Committer {
  readonly #parts: CommitterParts;
  #waiting: Group[] = [];
  #running: Promise<void> | undefined;
  /** Until when syncs are left to another thread. */
  #handedUntil = 0;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
  }

  write(changes: readonly Change[]): Promise<readonly ChangeResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      this.#running ??= new Promise<void>((started) => setImmediate(started)).then(() =>
        this.#run(),
      );
    });
  }

  /** Settles when everything submitted before is on disk or refused. */
  async close(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const groups = this.#waiting;
      this.#waiting = [];
      try {
        await this.#parts.ready();
        const results = await this.#writeFrame(groups.flatMap(({ changes }) => changes));
        let from = 0;
        for (const { changes, resolve } of groups) {
          resolve(results.slice(from, from + changes.length));
          from += changes.length;
        }
      } catch (error) {
        for (const { reject } of groups) reject(error);
      }
    }
    this.#running = undefined;
  }

  async #writeFrame(changes: readonly Change[]): Promise<ChangeResult[]> {
    const { log } = this.#parts;
    const frame = this.#parts.begin();
    const results = changes.map((change) => frame.add(change));
    if (frame.isEmpty) return results;
    let place: Place;
    try {
      place = await log.append(frame.body(), frame.head);
    } catch (error) {
      if (!isFull(error)) throw error;
      if (changes.length === 1) return [{ error }];
      // One of them may be too large: the others must not suffer for it.
      const each: ChangeResult[] = [];
      for (const change of changes) each.push(...(await this.#writeFrame([change])));
      return each;
    }
    await this.#sync(changes.length);
    this.#parts.written(place, frame.lines);
    return results;
  }

  async #sync(count: number): Promise<void> {
    const { log } = this.#parts;
    const start = performance.now();
    const isLone = this.#waiting.length === 0 && count <= INLINE_CHANGES_AT_MOST;
    if (!isLone) this.#handedUntil = Math.max(this.#handedUntil, start + BUSY_FOR_MS);
    if (start < this.#handedUntil) return log.sync();
    log.syncNow();
    if (performance.now() - start > SLOW_MS) this.#handedUntil = start + SLOW_FOR_MS;
  }
}

/** Whether nothing was written because there was no room. */
function isFull(error: unknown): boolean {
  return error instanceof FullLog || (error as NodeJS.ErrnoException).code === "ENOSPC";
}

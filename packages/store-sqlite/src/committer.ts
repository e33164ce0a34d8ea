/// <reference types="node" />
import { hash } from "node:crypto";
import type { Commit, CommitOutcome, LedgerEntry, LedgerHead, NewEntry } from "@waybill/hub/store";
import { chainText, faultOfCommit, isOrphaned, stagedView } from "@waybill/hub/store-thread";
import type { Digest } from "@waybill/protocol";
import type { IndexFollower } from "./indexer.ts";
import { entryLine, handoffLine, keysLine, manifestLine, settingLine } from "./log/line.ts";
import type { Line } from "./log/line.ts";
import { FullLog } from "./log/log.ts";
import type { Log } from "./log/log.ts";
import type { Place } from "./log/place.ts";
import type { Reader } from "./reader.ts";
import { everythingOnDisk } from "./unindexed.ts";
import type { FrameView, Unindexed } from "./unindexed.ts";

/** What a store is asked to write. */
export type Change = Commit | { readonly setting: string; readonly value: string };

/** The result for one change. Nothing of it is written if it is an error. */
export type ChangeResult = { readonly outcome: CommitOutcome } | { readonly error: unknown };

/** The time by which a store decides how it syncs. */
export interface StoreTime {
  /** In milliseconds, from any time on. */
  now(): number;
  /** Settles when everybody who wants to commit at this moment has asked. */
  nextTurn(): Promise<void>;
}

const REAL_TIME: StoreTime = {
  now: () => performance.now(),
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Where frames are written, and what follows them. */
export interface CommitterParts {
  readonly log: Log;
  readonly reader: Reader;
  readonly unindexed: Unindexed;
  readonly indexer: IndexFollower;
  /** Real time by default. */
  readonly time?: StoreTime | undefined;
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
  readonly #view: FrameView;
  readonly #time: StoreTime;
  #head: LedgerHead;
  #waiting: Group[] = [];
  #running: Promise<void> | undefined;
  /** Until when syncs are left to another thread. */
  #handedUntil = 0;

  constructor(parts: CommitterParts) {
    const { log, reader, unindexed, time = REAL_TIME } = parts;
    this.#parts = parts;
    this.#time = time;
    this.#view = everythingOnDisk(unindexed, reader);
    this.#head = log.place.head;
  }

  /** The end of the ledger on disk. */
  get head(): LedgerHead {
    return this.#head;
  }

  write(changes: readonly Change[]): Promise<readonly ChangeResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      this.#running ??= this.#time.nextTurn().then(() => this.#run());
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
        await this.#parts.indexer.ready();
        const results = await this.#writeFrame(groups.map(({ changes }) => changes));
        groups.forEach(({ resolve }, index) => resolve(results[index]!));
      } catch (error) {
        for (const { reject } of groups) reject(error);
      }
    }
    this.#running = undefined;
  }

  async #writeFrame(groups: readonly (readonly Change[])[]): Promise<ChangeResult[][]> {
    const { log } = this.#parts;
    const frame = new GroupFrame(this.#view, this.#head);
    const results: ChangeResult[][] = [];
    for (const changes of groups) {
      const own: ChangeResult[] = [];
      for (const change of changes) {
        own.push(isCutOff(change, own) ? { outcome: CONFLICT } : frame.add(change));
      }
      results.push(own);
    }
    if (frame.isEmpty) return results;
    let place: Place;
    try {
      place = await log.append(frame.body(), frame.head);
    } catch (error) {
      if (!isFull(error)) throw error;
      return this.#writeEach(groups, error);
    }
    await this.#sync(results.flat().length);
    this.#written(place, frame.lines);
    return results;
  }

  /** There was no room. One change may be too large: the others must not suffer for it. */
  async #writeEach(
    groups: readonly (readonly Change[])[],
    error: unknown,
  ): Promise<ChangeResult[][]> {
    if (groups.length === 1 && groups[0]!.length === 1) return [[{ error }]];
    const results: ChangeResult[][] = [];
    for (const changes of groups) {
      const own: ChangeResult[] = [];
      for (const change of changes) {
        own.push(isCutOff(change, own) ? { outcome: CONFLICT } : await this.#writeAlone(change));
      }
      results.push(own);
    }
    return results;
  }

  /** What it depends on is on disk. */
  async #writeAlone(change: Change): Promise<ChangeResult> {
    const alone = "setting" in change ? change : { ...change, dependsOn: [] };
    return (await this.#writeFrame([[alone]]))[0]![0]!;
  }

  /** A frame is on disk: it can be read before anybody is told. */
  #written(place: Place, lines: readonly Line[]): void {
    const { unindexed, indexer } = this.#parts;
    this.#head = place.head;
    for (const line of lines) unindexed.add(place.frame, line);
    indexer.follow(place);
  }

  async #sync(count: number): Promise<void> {
    const { log } = this.#parts;
    const start = this.#time.now();
    const isLone = this.#waiting.length === 0 && count <= INLINE_CHANGES_AT_MOST;
    if (!isLone) this.#handedUntil = Math.max(this.#handedUntil, start + BUSY_FOR_MS);
    if (start < this.#handedUntil) return log.sync();
    log.syncNow();
    if (this.#time.now() - start > SLOW_MS) this.#handedUntil = start + SLOW_FOR_MS;
  }
}

/** Collects what a group of changes writes into one frame. */
class GroupFrame {
  readonly #view: FrameView;
  /** The same, as if the changes of this frame were on disk. */
  readonly #staged: ReturnType<typeof stagedView>;
  readonly lines: Line[] = [];
  #texts: string[] = [];
  #head: LedgerHead;

  constructor(view: FrameView, head: LedgerHead) {
    this.#view = view;
    this.#staged = stagedView(view);
    this.#head = head;
  }

  /** The end of the ledger after this frame. */
  get head(): LedgerHead {
    return this.#head;
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  body(): Buffer {
    return Buffer.from(this.#texts.join(""), "utf8");
  }

  /** Adds a change that is possible, whole or not at all. */
  add(change: Change): ChangeResult {
    const [lines, texts, head] = [this.lines.length, this.#texts.length, this.#head];
    try {
      return { outcome: this.#add(change) };
    } catch (error) {
      this.lines.length = lines;
      this.#texts.length = texts;
      this.#head = head;
      return { error };
    }
  }

  #add(change: Change): CommitOutcome {
    if ("setting" in change) {
      const { setting: name, value: to } = change;
      this.#putSetting(name, to);
      this.#staged.stage({ handoff: null, entries: [], settings: [{ name, from: null, to }] });
      return { type: "committed", lastSequence: this.#head.sequence };
    }
    const fault = faultOfCommit(change, this.#staged);
    if (fault !== undefined) return fault;
    const { handoff, manifest, keys, settings = [] } = change;
    for (const entry of change.entries) this.#append(entry);
    if (handoff !== null) {
      const family = handoff.version === 1 ? undefined : this.#view.familyOf(handoff.id);
      const written = { ...handoff, ...family };
      this.#put({ type: "handoff", handoff: written }, handoffLine(written));
    }
    if (manifest !== undefined) this.#put({ type: "manifest", manifest }, manifestLine(manifest));
    if (keys !== undefined) this.#put({ type: "keys", keys }, keysLine(keys));
    for (const { name, to } of settings) this.#putSetting(name, to);
    this.#staged.stage(change);
    return { type: "committed", lastSequence: this.#head.sequence };
  }

  #append(entry: NewEntry): void {
    const placed = { ...entry, sequence: this.#head.sequence + 1 };
    const link: Digest = `sha256:${hash("sha256", chainText(this.#head.hash, placed))}`;
    const linked: LedgerEntry = { ...placed, hash: link };
    this.#put({ type: "entry", entry: linked }, entryLine(linked));
    this.#head = { sequence: placed.sequence, hash: link };
  }

  #putSetting(name: string, to: string | null): void {
    this.#put({ type: "setting", setting: { name, to } }, settingLine(name, to));
  }

  #put(line: Line, text: string): void {
    this.lines.push(line);
    this.#texts.push(text);
  }
}

const CONFLICT: CommitOutcome = { type: "conflict" };

/** Whether a change depends on one that was not made, by the results before it in its group. */
function isCutOff(change: Change, before: readonly ChangeResult[]): boolean {
  if ("setting" in change || change.dependsOn === undefined) return false;
  return isOrphaned(
    change,
    before.map((result) => ("outcome" in result ? result.outcome : undefined)),
  );
}

/** Whether nothing was written because there was no room. */
function isFull(error: unknown): boolean {
  return error instanceof FullLog || (error as NodeJS.ErrnoException).code === "ENOSPC";
}

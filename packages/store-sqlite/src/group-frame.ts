/// <reference types="node" />
import { hash } from "node:crypto";
import type { Commit, CommitOutcome, LedgerEntry, LedgerHead, NewEntry } from "@waybill/hub/store";
import { chainText, faultOfCommit } from "@waybill/hub/store-thread";
import type { CommitView } from "@waybill/hub/store-thread";
import type { Digest } from "@waybill/protocol";
import { entryLine, handoffLine, keysLine, manifestLine, settingLine } from "./log/line.ts";
import type { Line } from "./log/line.ts";
import type { HandoffFamily } from "./reader.ts";

/** What a store is asked to write. */
export type Change = Commit | { readonly setting: string; readonly value: string };

/** What is known about a handoff, besides its version. */
export interface FrameView extends CommitView {
  familyOf(handoffId: string): HandoffFamily | undefined;
}

/** The result for one change. Nothing of it is written if it is an error. */
export type ChangeResult = { readonly outcome: CommitOutcome } | { readonly error: unknown };

/** Collects what a group of changes writes into one frame. */
export class GroupFrame {
  readonly #view: FrameView & { stage(commit: Commit): void };
  readonly lines: Line[] = [];
  #texts: string[] = [];
  #head: LedgerHead;

  constructor(view: FrameView & { stage(commit: Commit): void }, head: LedgerHead) {
    this.#view = view;
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
      this.#view.stage({ handoff: null, entries: [], settings: [{ name, from: null, to }] });
      return { type: "committed", lastSequence: this.#head.sequence };
    }
    const fault = faultOfCommit(change, this.#view);
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
    this.#view.stage(change);
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

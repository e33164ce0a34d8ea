/// <reference types="node" />
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { WaybillError } from "@waybill/protocol";
import type { Commit } from "../store.ts";

/** One file, with the few operations that a journal needs: appended data survives after a sync. */
export interface Disk {
  append(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  /** Its content, from the first byte. */
  read(): Promise<Uint8Array>;
}

export type Change =
  | { readonly type: "commit"; readonly commit: Commit }
  | { readonly type: "setting"; readonly name: string; readonly value: string };

type Frame =
  /** What one sync makes durable, so that a crash can tear only the last frame. */
  | { readonly type: "changes"; readonly changes: readonly Change[] }
  /** Everything from there up to this frame was torn by a crash and never acknowledged. */
  | { readonly type: "cut"; readonly from: number };

/** No byte of UTF-8 is 0xff, so a payload never looks like the beginning of a frame. */
const MARK = Buffer.from([0xff, 0x57, 0x42, 0x4a, 0x31]);
/** The mark, then the length of the payload, its checksum, and the checksum of the header. */
const HEAD_BYTES = MARK.length + 12;

export function changesFrame(changes: readonly Change[]): Uint8Array {
  return frameOf({ type: "changes", changes });
}

export function cutFrame(from: number): Uint8Array {
  return frameOf({ type: "cut", from });
}

function frameOf(frame: Frame): Uint8Array {
  const payload = Buffer.from(JSON.stringify(frame), "utf8");
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  MARK.copy(head);
  let at = head.writeUInt32LE(payload.length, MARK.length);
  at = head.writeUInt32LE(crc32(payload), at);
  head.writeUInt32LE(crc32(head.subarray(0, at)), at);
  return Buffer.concat([head, payload]);
}

export interface Journal {
  readonly changes: readonly Change[];
  /** Where a torn last record begins; undefined if the journal ends well. */
  readonly tornAt: number | undefined;
}

/** Reads what was synced. A damaged record before others is an error. */
export function readJournal(content: Uint8Array): Journal {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const changes: Change[] = [];
  for (let at = 0; at < bytes.length;) {
    const read = frameAt(bytes, at);
    if (read === undefined) {
      const next = nextFrame(bytes, at);
      if (next === undefined) return { changes, tornAt: at };
      if (next.frame.type !== "cut" || next.frame.from !== at) throw damaged(at, bytes.length);
      at = next.end;
      continue;
    }
    if (read.frame.type === "cut") throw damaged(at, bytes.length);
    // Not spread: a frame may hold more of them than a call takes arguments.
    for (const change of read.frame.changes) changes.push(change);
    at = read.end;
  }
  return { changes, tornAt: undefined };
}

function frameAt(bytes: Buffer, at: number): { frame: Frame; end: number } | undefined {
  const start = at + HEAD_BYTES;
  if (start > bytes.length || !bytes.subarray(at, at + MARK.length).equals(MARK)) return undefined;
  const length = bytes.readUInt32LE(at + MARK.length);
  const payload = bytes.subarray(start, start + length);
  const isWhole =
    bytes.readUInt32LE(start - 4) === crc32(bytes.subarray(at, start - 4)) &&
    payload.length === length &&
    bytes.readUInt32LE(start - 8) === crc32(payload);
  if (!isWhole) return undefined;
  return { frame: JSON.parse(payload.toString("utf8")) as Frame, end: start + length };
}

function nextFrame(bytes: Buffer, after: number): { frame: Frame; end: number } | undefined {
  for (let at = bytes.indexOf(MARK, after + 1); at >= 0; at = bytes.indexOf(MARK, at + 1)) {
    const read = frameAt(bytes, at);
    if (read !== undefined) return read;
  }
  return undefined;
}

function damaged(at: number, length: number): WaybillError {
  return new WaybillError(
    500,
    `The store's journal is damaged at byte ${at} of ${length}, and whole records follow: something other than a crash changed it. Nothing was opened. Restore the journal from a copy.`,
  );
}

/// <reference types="node" />
import { crc32 } from "node:zlib";
import type { LedgerHead } from "@waybill/hub/store";
import type { Digest } from "@waybill/protocol";

/**
 * A frame holds what one group of commits has written: a header of fixed length, then lines of JSON.
 * The first byte of the magic occurs in no JSON text, so contents can't imitate a header.
 */
const MAGIC: Buffer = Buffer.from("\u0001WBL", "latin1");

/** How the body of a frame is stored. */
export type FrameKind = "turn" | "sealed";
const KINDS: readonly FrameKind[] = ["turn", "sealed"];

/** Where each field of a header begins. */
const AT = { kind: 4, length: 8, number: 12, previous: 18, before: 22, after: 60, checksum: 98 };
export const HEADER_BYTES = 102;
const HEX = "sha256:".length;

export interface FrameHeader {
  readonly kind: FrameKind;
  /** Of the body, in bytes. */
  readonly length: number;
  /** From 1, without gaps, through all segments. */
  readonly number: number;
  /** The checksum of the frame before, 0 for the first. */
  readonly previous: number;
  /** The end of the ledger before this frame, so that a segment can be verified alone. */
  readonly before: LedgerHead;
  /** The end of the ledger after this frame. */
  readonly after: LedgerHead;
  /** Of the header up to here, and the body. */
  readonly checksum: number;
}

/** A frame in a segment. */
export interface Frame extends FrameHeader {
  readonly position: number;
  /** Its length in the segment, with its header. */
  readonly bytes: number;
  readonly body: Buffer;
}

/** The bytes of one frame, and its checksum. */
export function encodeFrame(
  { kind, number, previous, before, after }: Omit<FrameHeader, "length" | "checksum">,
  body: Buffer,
): { readonly bytes: Buffer; readonly checksum: number } {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  bytes.fill(0, 0, HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes[AT.kind] = KINDS.indexOf(kind);
  bytes.writeUInt32BE(body.length, AT.length);
  bytes.writeUIntBE(number, AT.number, 6);
  bytes.writeUInt32BE(previous, AT.previous);
  writeHead(bytes, AT.before, before);
  writeHead(bytes, AT.after, after);
  body.copy(bytes, HEADER_BYTES);
  const checksum = checksumOf(bytes);
  bytes.writeUInt32BE(checksum, AT.checksum);
  return { bytes, checksum };
}

/** The frame at this position; undefined if there is none, or one that is not complete and intact. */
export function decodeFrame(bytes: Buffer, position: number): Frame | undefined {
  const end = position + HEADER_BYTES;
  if (end > bytes.length || bytes.compare(MAGIC, 0, MAGIC.length, position, position + 4) !== 0) {
    return undefined;
  }
  const length = bytes.readUInt32BE(position + AT.length);
  const kind = KINDS[bytes[position + AT.kind]!];
  if (kind === undefined || end + length > bytes.length) return undefined;
  const checksum = bytes.readUInt32BE(position + AT.checksum);
  if (checksumOf(bytes.subarray(position, end + length)) !== checksum) return undefined;
  return {
    kind,
    length,
    number: bytes.readUIntBE(position + AT.number, 6),
    previous: bytes.readUInt32BE(position + AT.previous),
    before: readHead(bytes, position + AT.before),
    after: readHead(bytes, position + AT.after),
    checksum,
    position,
    bytes: HEADER_BYTES + length,
    body: bytes.subarray(end, end + length),
  };
}

/** The length of the whole frame that this header announces; undefined if it is no header. */
export function announcedBytes(header: Buffer): number | undefined {
  if (header.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0) return undefined;
  return HEADER_BYTES + header.readUInt32BE(AT.length);
}

/** The position of the next thing that looks like a header, or -1. */
export function nextMagic(bytes: Buffer, from: number): number {
  return bytes.indexOf(MAGIC, from);
}

function checksumOf(frame: Buffer): number {
  return crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(0, AT.checksum)));
}

function writeHead(bytes: Buffer, position: number, { sequence, hash }: LedgerHead): void {
  bytes.writeUIntBE(sequence, position, 6);
  bytes.write(hash.slice(HEX), position + 6, "hex");
}

function readHead(bytes: Buffer, position: number): LedgerHead {
  const hash: Digest = `sha256:${bytes.toString("hex", position + 6, position + 38)}`;
  return { sequence: bytes.readUIntBE(position, 6), hash };
}

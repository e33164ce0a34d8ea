import type { LedgerHead } from "@waybill/hub/store";
import type { Frame } from "./frame.ts";

/** A place in the log: right after a frame. */
export interface Place {
  readonly segment: number;
  /** Where the next frame begins, unless it begins the next segment. */
  readonly position: number;
  /** Where the last frame begins. */
  readonly last: number;
  /** The number and the checksum of the last frame; 0 before the first. */
  readonly frame: number;
  readonly checksum: number;
  /** The end of the ledger. */
  readonly head: LedgerHead;
}

/** The place before the first frame of a log. The ledger of a migrated store has entries by then. */
export function startAfter(head: LedgerHead): Place {
  return { segment: 1, position: 0, last: 0, frame: 0, checksum: 0, head };
}

export function placeAfter(frame: Frame, segment: number): Place {
  const position = frame.position + frame.bytes;
  const { position: last, number, checksum, after: head } = frame;
  return { segment, position, last, frame: number, checksum, head };
}

/** Whether a frame is the one after this place. */
export function follows(frame: Frame, { frame: number, checksum, head }: Place): boolean {
  const isNext = frame.number === number + 1 && frame.previous === checksum;
  return isNext && frame.before.sequence === head.sequence && frame.before.hash === head.hash;
}

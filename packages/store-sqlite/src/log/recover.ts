import type { ReadableLogFolder } from "./disk.ts";
import type { Frame } from "./frame.ts";
import { follows, placeAfter } from "./place.ts";
import type { Place } from "./place.ts";
import { SegmentFrames } from "./segment-frames.ts";
import { segmentName, segmentsIn } from "./segment.ts";

/**
 * Calls the visitor for each frame after a place, and returns the place where they end, or where the
 * caller wants to end.
 */
export function readTail(
  folder: ReadableLogFolder,
  from: Place,
  visit: (frame: Frame, place: Place) => void,
  until?: Place,
): Place {
  const names = new Set(folder.names());
  let place = from;
  for (let segment = from.segment; ; segment++) {
    const name = segmentName(segment);
    if (!names.has(name)) return place;
    const file = folder.open(name);
    try {
      const frames = new SegmentFrames(
        file,
        segment === until?.segment ? until.position : undefined,
      );
      const before = place;
      while (place.frame !== until?.frame) {
        const frame = frames.at(place.segment === segment ? place.position : 0);
        if (frame === undefined || !follows(frame, place)) break;
        place = placeAfter(frame, segment);
        visit(frame, place);
      }
      // A segment without a frame ends the log, except the one in which the place is.
      if (place === before && segment !== from.segment) return place;
      if (place.frame === until?.frame) return place;
    } finally {
      file.close();
    }
  }
}

/** What is behind the end of a log: nothing whole, after a crash; whole frames, after damage. */
export interface Damage {
  readonly segment: number;
  readonly position: number;
  /** The last entry of the ledger before the damage. */
  readonly holdsTo: number;
  /** The entries after it that are intact: the first one and the last one. */
  readonly holdsFrom: number;
  readonly last: number;
}

/**
 * Looks for intact frames behind the end of a log. Each frame is written after the one before is on
 * disk, so a crash can only tear the last one: an intact frame behind a broken one proves damage.
 */
export function findDamage(folder: ReadableLogFolder, end: Place): Damage | undefined {
  let first: Frame | undefined;
  let last: Frame | undefined;
  for (const { number, name } of segmentsIn(folder.names())) {
    if (number < end.segment) continue;
    const file = folder.open(name);
    try {
      const frames = new SegmentFrames(file);
      const from = number === end.segment ? end.position : 0;
      for (
        let frame = frames.firstFrom(from);
        frame !== undefined;
        frame = frames.firstFrom(frame.position + frame.bytes)
      ) {
        first ??= frame;
        last = frame;
      }
    } finally {
      file.close();
    }
  }
  if (first === undefined || last === undefined) return undefined;
  const { segment, position } = end;
  return {
    segment,
    position,
    holdsTo: end.head.sequence,
    holdsFrom: first.before.sequence + 1,
    last: last.after.sequence,
  };
}

/** Whether the last frame before a place is there: what was on disk once must still be. */
export function isThere(folder: ReadableLogFolder, place: Place): boolean {
  if (place.frame === 0) return true;
  const name = segmentName(place.segment);
  if (!folder.names().includes(name)) return false;
  const file = folder.open(name);
  try {
    const frame = new SegmentFrames(file).at(place.last);
    return frame?.number === place.frame && frame.checksum === place.checksum;
  } finally {
    file.close();
  }
}

/// <reference types="node" />
import type { ReadableLogFile, ReadableLogFolder } from "./disk.ts";
import { linesOf } from "./line.ts";
import { damageText, DamagedLog } from "./log.ts";
import { placeAfter } from "./place.ts";
import type { Place } from "./place.ts";
import { findDamage, isThere, readTail } from "./recover.ts";
import { bodyOf, framesOf } from "./seal.ts";
import { SegmentFrames } from "./segment-frames.ts";
import { segmentName, segmentsIn } from "./segment.ts";

/** Reads every frame, and throws for one that is broken, or was on disk at `place` and is missing. */
export function verifyLog(folder: ReadableLogFolder, start: Place, place: Place): void {
  const end = readTail(folder, afterSealed(folder, start), () => undefined);
  const damage = findDamage(folder, end);
  if (damage !== undefined) throw new DamagedLog(damageText(damage), damage);
  if (end.frame < place.frame || !isThere(folder, place)) {
    throw new DamagedLog(`frame ${place.frame}, which was on disk, is missing`);
  }
}

/** The place at which the segments that are not sealed begin. */
function afterSealed(folder: ReadableLogFolder, start: Place): Place {
  let place = start;
  for (const { isSealed, name, number } of segmentsIn(folder.names())) {
    const file = folder.open(name);
    try {
      if (!isSealed) return number === start.segment ? start : atBeginning(file, number, place);
      place = endOfSealed(file, number, place);
    } finally {
      file.close();
    }
  }
  return place;
}

function atBeginning(file: ReadableLogFile, segment: number, place: Place): Place {
  const checksum = new SegmentFrames(file).at(0)?.previous ?? 0;
  return { ...place, segment, position: 0, last: 0, checksum };
}

function endOfSealed(file: ReadableLogFile, segment: number, start: Place): Place {
  let place = start;
  let end = 0;
  for (const frame of framesOf(file)) {
    const entries = Array.from(linesOf(bodyOf(frame))).length;
    const { before, after } = frame;
    const follows = before.hash === place.head.hash && before.sequence === place.head.sequence;
    if (!follows || after.sequence !== before.sequence + entries) break;
    place = placeAfter(frame, segment);
    end = place.position;
  }
  if (end === file.size() && end > 0) return place;
  throw new DamagedLog(
    `segment ${segmentName(segment, true)} of the ledger is broken at byte ${end}; entries up to ${place.head.sequence} hold`,
  );
}

/// <reference types="node" />
import { crc32 } from "node:zlib";
import type { StoredHandoff, StoredKey } from "@waybill/hub/store";

/** The checksum of what each commit writes. `inboxes` is in the form of its column. */
export function checksumOf(
  {
    id,
    version,
    state,
    wakeAt,
    waitsFor,
    waitsAt,
    session,
    sessionAt,
    isDeadLetter,
    record,
  }: Omit<StoredHandoff, "inboxes">,
  inboxes: string,
): number {
  const columns = [id, version, state, wakeAt, waitsFor, inboxes, isDeadLetter];
  // Rows from before places and sessions existed have none, and keep the checksum that they had.
  if (waitsAt !== 0) columns.push(waitsAt);
  if (session !== null) columns.push(session, sessionAt);
  return crc32(record, crc32(JSON.stringify(columns)));
}

/** The checksum of what never changes after the first commit. */
export function familyChecksumOf({
  id,
  delegator,
  correlationId,
  parentId,
  groupId,
}: Pick<StoredHandoff, "id" | "delegator" | "correlationId" | "parentId" | "groupId">): number {
  return crc32(JSON.stringify([id, delegator, correlationId, parentId, groupId]));
}

export function keyChecksumOf({ kid, agent, record }: StoredKey): number {
  return crc32(JSON.stringify([kid, agent, record]));
}

/** A row that differs from what was committed: the disk, or another program, has changed it. */
export class ChangedRow extends Error {
  constructor(name: string) {
    super(`the row of ${name} is not as it was written`);
  }
}

/// <reference types="node" />
import { crc32 } from "node:zlib";
import type { StoredHandoff, StoredKey } from "@waybill/hub/store";

/** Of what each commit writes. `inboxes` is as the column has it. */
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
  // Rows of a file from before there were places or sessions have none, and the checksum that they had.
  if (waitsAt !== 0) columns.push(waitsAt);
  if (session !== null) columns.push(session, sessionAt);
  return crc32(record, crc32(JSON.stringify(columns)));
}

/** Of what stays as it was in the first commit, whatever a later one says. */
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

/** A row that is not what a commit has written: the disk, or another program, has changed it. */
export class ChangedRow extends Error {
  constructor(name: string) {
    super(`the row of ${name} is not as it was written`);
  }
}

import { ChangedRow, checksumOf, familyChecksumOf, keyChecksumOf } from "./checksum.ts";
import type {
  LedgerEntry,
  ManifestCard,
  StoredHandoff,
  StoredKey,
  StoredManifest,
  StoredOffer,
} from "@waybill/hub/store";

type Row = Record<string, unknown>;

export const HANDOFF_COLUMNS =
  "id, version, state, delegator, correlation_id, parent_id, group_id, wake_at, waits_for, inboxes, is_dead_letter, record, checksum, family_checksum, waits_at, session, session_at";
export const ENTRY_COLUMNS =
  "sequence, at, type, handoff_id, sender, envelope_id, digest, hash, content";
export const CARD_COLUMNS = "agent, sequence, at, digest, facts";
export const MANIFEST_COLUMNS: string = `${CARD_COLUMNS}, content`;
export const OFFER_COLUMNS =
  "name, capability.agent AS agent, version, terms, characters, sequence, digest, facts";

/** A handoff as it was written; throws for a row that was modified since. */
export function handoffOf(row: Row): StoredHandoff {
  const inboxes = row["inboxes"] as string;
  const handoff: StoredHandoff = {
    id: row["id"] as string,
    version: row["version"] as number,
    record: row["record"] as string,
    state: row["state"] as StoredHandoff["state"],
    delegator: row["delegator"] as string,
    correlationId: row["correlation_id"] as string,
    parentId: row["parent_id"] as string | null,
    groupId: row["group_id"] as string | null,
    wakeAt: row["wake_at"] as number | null,
    waitsFor: row["waits_for"] as string | null,
    waitsAt: row["waits_at"] as number,
    session: row["session"] as string | null,
    sessionAt: row["session_at"] as number,
    inboxes: NO_NAMES,
    isDeadLetter: row["is_dead_letter"] === 1,
  };
  const isSame =
    checksumOf(handoff, inboxes) === row["checksum"] &&
    familyChecksumOf(handoff) === row["family_checksum"];
  if (!isSame) throw new ChangedRow(`handoff ${handoff.id}`);
  return { ...handoff, inboxes: namesOf(inboxes) };
}

/** An entry that an earlier release wrote into the database. */
export function entryOf(row: Row): LedgerEntry {
  const from = row["sender"] as string | null;
  return {
    at: row["at"] as number,
    handoffId: row["handoff_id"] as string | null,
    type: row["type"] as LedgerEntry["type"],
    content: row["content"] as string,
    digest: row["digest"] as LedgerEntry["digest"],
    replayKey: from === null ? null : { from, id: row["envelope_id"] as string },
    sequence: row["sequence"] as number,
    hash: row["hash"] as LedgerEntry["hash"],
  };
}

export function cardOf(row: Row): ManifestCard {
  return {
    agent: row["agent"] as string,
    sequence: row["sequence"] as number,
    digest: row["digest"] as ManifestCard["digest"],
    at: row["at"] as number,
    facts: row["facts"] as string,
  };
}

export function manifestOf(row: Row): StoredManifest {
  return { ...cardOf(row), text: row["content"] as string };
}

/** A key as it was written; throws for a row that was modified since. */
export function keyOf(row: Row): StoredKey {
  const key = {
    kid: row["kid"] as string,
    agent: row["agent"] as string,
    record: row["record"] as string,
  };
  if (keyChecksumOf(key) !== row["checksum"]) throw new ChangedRow(`key ${key.kid}`);
  return key;
}

export function offerOf(row: Row): StoredOffer {
  return {
    name: row["name"] as string,
    agent: row["agent"] as string,
    version: row["version"] as string,
    terms: row["terms"] as string,
    characters: row["characters"] as number,
    sequence: row["sequence"] as number,
    digest: row["digest"] as StoredOffer["digest"],
    facts: row["facts"] as string,
  };
}

export function namesOf(text: string): readonly string[] {
  return text === "[]" ? NO_NAMES : (JSON.parse(text) as string[]);
}

/** In byte order, as every store returns them. */
export function sortedNames(names: readonly string[]): readonly string[] {
  return names.length < 2 ? names : names.toSorted();
}

export function textOfNames(names: readonly string[]): string {
  return names.length === 0 ? "[]" : JSON.stringify(sortedNames(names));
}

const NO_NAMES: readonly string[] = [];

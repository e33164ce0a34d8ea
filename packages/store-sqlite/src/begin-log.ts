/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";
import { EMPTY_LEDGER } from "@waybill/hub/store";
import type { LedgerHead } from "@waybill/hub/store";
import type { Digest } from "@waybill/protocol";
import { compactId } from "./compact-id.ts";
import { markOf } from "./digest-mark.ts";
import { startAfter } from "./log/place.ts";
import type { Place } from "./log/place.ts";

/** The version of the database since which there is a log. */
export const LOG_SINCE = 7;

/** Up to where the log is indexed. */
export function placeOf(database: DatabaseSync): Place {
  const row = database.prepare("SELECT place FROM log_place").get();
  return JSON.parse(row!["place"] as string) as Place;
}

/** The last entry of the ledger that an earlier release wrote into the database. */
export function ledgerHeadIn(database: DatabaseSync): LedgerHead {
  const last = database
    .prepare("SELECT sequence, hash FROM ledger ORDER BY sequence DESC LIMIT 1")
    .get() as LedgerHead | undefined;
  return last === undefined ? EMPTY_LEDGER : { sequence: last.sequence, hash: last.hash };
}

/**
 * The log continues the ledger of the database. The entries that are there stay there, with their
 * contents, and are indexed like those in the log.
 */
export function beginLog(database: DatabaseSync): void {
  database
    .prepare("INSERT INTO log_place VALUES (?)")
    .run(JSON.stringify(startAfter(ledgerHeadIn(database))));
  const entry = database.prepare("INSERT INTO entry VALUES (?, ?, ?)");
  const seen = database.prepare("INSERT INTO seen VALUES (?, ?, ?)");
  const rows = database.prepare(
    "SELECT sequence, handoff_id, sender, envelope_id, digest FROM ledger",
  );
  for (const row of rows.iterate()) {
    if (row["handoff_id"] !== null) {
      const mark = markOf(row["digest"] as Digest);
      entry.run(compactId(row["handoff_id"] as string), row["sequence"]!, mark);
    }
    if (row["envelope_id"] === null) continue;
    seen.run(compactId(row["envelope_id"] as string), row["sender"]!, row["sequence"]!);
  }
}

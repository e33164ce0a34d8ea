/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";
import { WaybillError } from "@waybill/protocol";
import { checksumOf, familyChecksumOf } from "./checksum.ts";
import { rollBack } from "./roll-back.ts";
import { APPLICATION_ID } from "./schema.ts";
import type { Migration } from "./schema.ts";

/** Refuses a file that is no store, or not one for this release; nothing is written. */
export function identify(database: DatabaseSync, path: string, newest: number): void {
  const version = numberOf(database, "user_version");
  const application = numberOf(database, "application_id");
  const isNew = numberOf(database, "schema_version") === 0 && version === 0 && application === 0;
  if (!isNew && application !== APPLICATION_ID) {
    throw new WaybillError(
      500,
      `The file ${path} is a SQLite database of another application. Name another path; nothing was changed.`,
    );
  }
  if (version > newest) {
    throw new WaybillError(
      500,
      `The store ${path} has version ${version}, and this release reads up to version ${newest}: a newer release wrote it. Install that release, or open a backup from before the change; nothing was changed.`,
    );
  }
}

/** Functions for migrations: the checksums of rows that were written without. */
function defineFunctions(database: DatabaseSync): void {
  type Columns = Parameters<typeof checksumOf>[0];
  type Family = Parameters<typeof familyChecksumOf>[0];
  database.function(
    "handoff_checksum",
    (id, version, state, wakeAt, waitsFor, inboxes, isDeadLetter, record) => {
      const columns = {
        id,
        version,
        state,
        wakeAt,
        waitsFor,
        waitsAt: 0,
        session: null,
        sessionAt: 0,
        record,
      };
      return checksumOf(
        { ...columns, isDeadLetter: isDeadLetter === 1 } as unknown as Columns,
        inboxes as string,
      );
    },
  );
  database.function("handoff_family_checksum", (id, delegator, correlationId, parentId, groupId) =>
    familyChecksumOf({ id, delegator, correlationId, parentId, groupId } as Family),
  );
}

/** Migrates a file to the newest version, one version at a time, each completely or not at all. */
export function migrate(database: DatabaseSync, migrations: readonly Migration[]): void {
  const version = numberOf(database, "user_version");
  if (version < migrations.length) defineFunctions(database);
  for (let next = version + 1; next <= migrations.length; next++) {
    database.exec("BEGIN IMMEDIATE");
    try {
      const migration = migrations[next - 1]!;
      if (typeof migration === "string") database.exec(migration);
      else migration(database);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${next}`);
      database.exec("COMMIT");
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }
}

export function numberOf(database: DatabaseSync, pragma: string): number {
  const row = database.prepare(`PRAGMA ${pragma}`).get();
  return Number(Object.values(row ?? {})[0] ?? 0);
}

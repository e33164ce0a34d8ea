/// <reference types="node" />
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { backUp } from "./backup.ts";
import { filePath } from "./database.ts";
import { checkPages } from "./check.ts";
import { failureOf } from "./failure.ts";
import { isRestoring } from "./interrupted-restore.ts";
import { identify, numberOf } from "./migrate.ts";
import { FileFolder } from "./log/file-folder.ts";
import { verifyLog } from "./log/verify.ts";
import { logFolderOf } from "./log-folder.ts";
import { Reader } from "./reader.ts";
import { MIGRATIONS } from "./schema.ts";
import { TailReader } from "./tail.ts";

/** The read-only view of a store that another process owns. */
export interface SqliteReader extends Pick<
  Store,
  "ledger" | "ledgerHead" | "manifests" | "agents"
> {
  /** Copies a snapshot of the store to a new file, while its owner goes on. */
  backup(path: string): Promise<void>;
  /** Reads every segment, page and index; rejects if anything is damaged. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store in this file for reading, whether a hub is using it or not. */
export async function openSqliteReader(path: string): Promise<SqliteReader> {
  const file = filePath(path);
  if (!existsSync(file)) {
    throw new WaybillError(404, `There is no store at ${file}. Check the path.`);
  }
  if (isRestoring(file)) throw unfinished(file);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    identify(database, file, MIGRATIONS.length);
    if (numberOf(database, "user_version") < MIGRATIONS.length) throw tooOld(file);
    return readerOf(file, database);
  } catch (error) {
    database?.close();
    throw failureOf(error, file);
  }
}

function readerOf(file: string, database: DatabaseSync): SqliteReader {
  const folder = new FileFolder(logFolderOf(file), true);
  const reader = new Reader(database, folder);
  const tail = new TailReader(reader, folder);
  const reading = async <Value>(read: () => Value): Promise<Value> => {
    try {
      return read();
    } catch (error) {
      throw failureOf(error, file);
    }
  };
  return {
    ledger: (page) => reading(() => tail.ledger(page)),
    ledgerHead: () => reading(() => tail.place().head),
    manifests: (agent, page) => reading(() => tail.manifests(agent, page)),
    agents: (page) => reading(() => tail.agents(page)),
    backup: (to) => backUp(file, to),
    check: () =>
      reading(() => {
        checkPages(database, file);
        reader.checkRows();
        verifyLog(folder, reader.start(), reader.place());
      }),
    close: () =>
      reading(() => {
        reader.close();
        database.close();
      }),
  };
}

function unfinished(file: string): WaybillError {
  return new WaybillError(
    503,
    `A restore of the store ${file} is in progress, or was interrupted. Start its hub once to finish it; a reader does not change the file.`,
  );
}

function tooOld(file: string): WaybillError {
  return new WaybillError(
    500,
    `The store ${file} was written by an older release. Start its hub once with this release to migrate the file; a reader does not change it.`,
  );
}

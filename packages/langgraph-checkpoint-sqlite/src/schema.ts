/// <reference types="node" />
import { closeSync, fchmodSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** "wblg": the application id in the header, which distinguishes it from every other SQLite file. */
const APPLICATION_ID = 0x77_62_6c_67;
const VERSION = 1;
const BUSY_TIMEOUT_MS = 5_000;

const TABLES = `
  CREATE TABLE checkpoint (
    thread TEXT NOT NULL, namespace TEXT NOT NULL, id TEXT NOT NULL, parent TEXT,
    type TEXT NOT NULL, value BLOB NOT NULL,
    metadata_type TEXT NOT NULL, metadata BLOB NOT NULL,
    PRIMARY KEY (thread, namespace, id)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE channel (
    thread TEXT NOT NULL, namespace TEXT NOT NULL, channel TEXT NOT NULL, version TEXT NOT NULL,
    type TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (thread, namespace, channel, version)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE write (
    thread TEXT NOT NULL, namespace TEXT NOT NULL, checkpoint TEXT NOT NULL,
    task TEXT NOT NULL, place INTEGER NOT NULL,
    channel TEXT NOT NULL, type TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (thread, namespace, checkpoint, task, place)
  ) WITHOUT ROWID, STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`;

const OWNER_ONLY = 0o600;

/** Creates a private file, independent of the umask, before SQLite creates one that others may read. */
function makePrivate(path: string): void {
  if (path === ":memory:" || path === "") return;
  try {
    const file = openSync(path, "wx", OWNER_ONLY);
    fchmodSync(file, OWNER_ONLY);
    closeSync(file);
  } catch {
    // It exists already, or can't be created: SQLite gives a better reason.
  }
}

/** Opens the file, and creates it if it is missing. A commit is on disk when it returns. */
export function openDatabase(path: string): DatabaseSync {
  makePrivate(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    prepare(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepare(database: DatabaseSync, path: string): void {
  // Two processes may open a new file at once: the second one finds it created.
  database.exec("BEGIN IMMEDIATE");
  const read = (name: string) =>
    Number(Object.values(database.prepare(`PRAGMA ${name}`).get()!)[0]);
  const [application, version] = [read("application_id"), read("user_version")];
  const isNew = database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  if (isNew) database.exec(TABLES);
  else if (application !== APPLICATION_ID || version > VERSION) {
    database.exec("ROLLBACK");
    throw new Error(
      application === APPLICATION_ID
        ? `${path} was written by a newer release (format ${version}, this one knows ${VERSION}). Use that release.`
        : `${path} is not a file of checkpoints but belongs to another application. Give another path.`,
    );
  }
  database.exec("COMMIT");
}

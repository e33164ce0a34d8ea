/// <reference types="node" />
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { WaybillError } from "@waybill/protocol";
import { backUp } from "./backup.ts";
import { filePath } from "./database.ts";
import { failureOf } from "./failure.ts";
import { becomeOwner } from "./owner.ts";
import { keepPrivate } from "./private-file.ts";
import { openSqliteStore } from "./sqlite-store.ts";

/** Files that SQLite keeps beside a database: beside another one they would destroy it. */
const BESIDE = ["-wal", "-shm"] as const;
const BUSY_TIMEOUT_MS = 0;

/** What becomes of the store that is there now. */
export interface RestoreOptions {
  /** Where the store that is there now goes; a store in the way is refused where this is left out. */
  readonly moveTo?: string | undefined;
}

/**
 * Puts a backup in the place of a store that no hub owns: whole, or not at all. The backup is
 * checked before anything is moved, and stays where it is.
 */
export async function restoreSqliteStore(
  backup: string,
  path: string,
  { moveTo }: RestoreOptions = {},
): Promise<void> {
  const file = filePath(path);
  if (!existsSync(backup)) {
    throw new WaybillError(404, `There is no backup at ${backup}. Check the path.`);
  }
  try {
    const disown = becomeOwner(file, BUSY_TIMEOUT_MS);
    try {
      await replace(filePath(backup), file, moveTo);
    } finally {
      disown();
    }
  } catch (error) {
    throw failureOf(error, file);
  }
}

/** Opened as its hub will: a backup of an older release is brought up to date, not refused. */
async function check(staged: string): Promise<void> {
  const store = await openSqliteStore(staged);
  try {
    await store.check();
  } finally {
    await store.close();
    rmSync(`${staged}-owner`, { force: true });
  }
}

async function replace(backup: string, file: string, moveTo: string | undefined): Promise<void> {
  const inTheWay = [file, moveTo].find((each) => each !== undefined && existsSync(each));
  if (inTheWay !== undefined && (moveTo === undefined || inTheWay === moveTo)) {
    throw new WaybillError(
      409,
      `There is a file at ${inTheWay} already, and nothing is ever written over. Name another path, or say where the store that is there is to be moved; nothing was changed.`,
    );
  }
  const staged = `${file}.restored`;
  rmSync(staged, { force: true });
  try {
    await backUp(backup, staged);
    await check(staged);
  } catch (error) {
    rmSync(staged, { force: true });
    const { status, message } = WaybillError.from(error);
    throw new WaybillError(
      status,
      `The backup ${backup} can't take the place of ${file}, and nothing was changed. ${message.replace(staged, backup)}`,
      { cause: error },
    );
  }
  if (inTheWay !== undefined) moveAway(file, moveTo!);
  renameSync(staged, file);
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** What is in the write-ahead log belongs to the file, and goes with it. */
function moveAway(file: string, to: string): void {
  for (const ending of [...BESIDE, ""]) {
    if (!existsSync(file + ending)) continue;
    keepPrivate(file + ending);
    renameSync(file + ending, to + ending);
  }
}

/// <reference types="node" />
import { chmodSync, closeSync, fchmodSync, lstatSync, openSync } from "node:fs";
import { WaybillError } from "@waybill/protocol";

const OWNER_ONLY = 0o600;

/**
 * Makes a file for its owner alone, whatever the umask of the process and the rules of the folder,
 * before SQLite makes one that others may read. What SQLite keeps beside it is then as this one is.
 * One that is there stays as it is; a link is refused, so that nothing is made where it leads.
 */
export function makePrivate(path: string): void {
  let file: number;
  try {
    file = openSync(path, "wx", OWNER_ONLY);
  } catch (error) {
    // Why a file can't be made here, SQLite says better.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return;
    if (!lstatSync(path).isSymbolicLink()) return;
    throw new WaybillError(
      403,
      `The file ${path} is a symbolic link that leads nowhere, or to a file that is not this store's: nothing is written through it. Remove it, or name another path.`,
      { cause: error },
    );
  }
  try {
    fchmodSync(file, OWNER_ONLY);
  } finally {
    closeSync(file);
  }
}

/** What was readable by others is not any more. */
export function keepPrivate(path: string): void {
  chmodSync(path, OWNER_ONLY);
}

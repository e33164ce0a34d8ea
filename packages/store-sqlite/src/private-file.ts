/// <reference types="node" />
import { chmodSync, closeSync, fchmodSync, lstatSync, openSync } from "node:fs";
import { WaybillError } from "@waybill/protocol";

const OWNER_ONLY = 0o600;

/**
 * Creates a private file, independent of the umask and of the folder's rules, before SQLite creates
 * one that others may read. The files that SQLite keeps beside it inherit its mode. An existing file
 * is unchanged; a link is refused, so that nothing is created at its target.
 */
export function makePrivate(path: string): void {
  let file: number;
  try {
    file = openSync(path, "wx", OWNER_ONLY);
  } catch (error) {
    // SQLite gives a better reason why a file can't be created here.
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

/** Makes files private that others could read. */
export function keepPrivate(path: string): void {
  chmodSync(path, OWNER_ONLY);
}

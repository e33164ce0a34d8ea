/// <reference types="node" />
import {
  chmodSync,
  existsSync,
  lstatSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readOwn } from "@waybill/agent/connect";
import { WaybillError } from "@waybill/protocol";
import { newOperatorToken, operatorTokenDomain } from "@waybill/protocol/wire";
import { syncFolder } from "../files/folder.ts";

const OWNER_ONLY = 0o600;
/** All permissions of the group and of others. */
const OTHERS = 0o077;

/** The files in a hub's data folder, beside its database. */
export const DATA_FILES = {
  hubKey: "hub.key",
  operatorKey: "operator.key",
  operatorToken: "operator.token",
  url: "hub.url",
  socket: "hub.sock",
} as const;

/** All files of a database, and the lock file of its owner. The folders beside it are always private. */
export function databaseFiles(database: string): readonly string[] {
  return ["", "-wal", "-shm", "-owner"].map((ending) => database + ending);
}

/**
 * Removes the permissions of others from files that an older release or a restored backup left open.
 * Returns the files that were open. Keys and the token are not repaired silently.
 */
export function closeToOthers(folder: string, database: string): readonly string[] {
  const files = [...databaseFiles(database), join(folder, DATA_FILES.url)];
  // A link's target does not belong to this folder.
  const isHere = (path: string) => existsSync(path) && !lstatSync(path).isSymbolicLink();
  const open = files.filter((path) => isHere(path) && isOpenToOthers(path) === true);
  for (const path of open) chmodSync(path, OWNER_ONLY);
  return open;
}

/** Writes a file that is never readable by others, and replaces whatever is there, including a link. */
export function writeOwn(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  const part = `${path}.part`;
  rmSync(part, { force: true });
  writeFileSync(part, `${text}\n`, { mode: OWNER_ONLY, flag: "wx", flush: true });
  chmodSync(part, OWNER_ONLY);
  renameSync(part, path);
  syncFolder(folder);
  return path;
}

/**
 * The operator token of a data folder. If it is missing or of another custody domain, a new one is
 * created.
 */
export function operatorTokenIn(folder: string, domain: string): string {
  const path = join(folder, DATA_FILES.operatorToken);
  const read = readOwn(path);
  const token = "text" in read ? read.text.trim() : "";
  if (operatorTokenDomain(token) === domain) {
    if (isOpenToOthers(path) !== true) return token;
    throw new WaybillError(
      401,
      `Others can read the operator token ${path}, and whoever has it is an operator of this hub. Delete the file, and the hub writes a new token; or, if nobody else had access, run: chmod 600 ${path}`,
    );
  }
  const made = newOperatorToken(domain);
  writeOwn(folder, DATA_FILES.operatorToken, made);
  return made;
}

/** Whether others than the owner may read or write it; undefined if this is unknown. */
export function isOpenToOthers(path: string, mode: number = OTHERS): boolean | undefined {
  if (process.platform === "win32") return undefined;
  try {
    return (statSync(path).mode & mode) !== 0;
  } catch {
    return undefined;
  }
}

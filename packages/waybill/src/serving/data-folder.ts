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
import { WaybillError } from "@waybill/protocol";
import { newOperatorToken, operatorTokenDomain } from "@waybill/protocol/wire";
import { syncFolder } from "../files/folder.ts";
import { readOwn } from "../files/own-file.ts";

const OWNER_ONLY = 0o600;
/** Everything that the group and all others may do. */
const OTHERS = 0o077;

/** What lies in the folder of a hub, beside its database. */
export const DATA_FILES = {
  hubKey: "hub.key",
  operatorKey: "operator.key",
  operatorToken: "operator.token",
  url: "hub.url",
} as const;

/** What a database consists of, and what its owner locks. */
export function databaseFiles(database: string): readonly string[] {
  return ["", "-wal", "-shm", "-owner"].map((ending) => database + ending);
}

/**
 * Takes away what others may do with the files that an older release, or a restored backup, left
 * open. Gives those that were; keys and the token are not mended in silence.
 */
export function closeToOthers(folder: string, database: string): readonly string[] {
  const files = [...databaseFiles(database), join(folder, DATA_FILES.url)];
  // What a link leads to is not this folder's.
  const isHere = (path: string) => existsSync(path) && !lstatSync(path).isSymbolicLink();
  const open = files.filter((path) => isHere(path) && isOpenToOthers(path) === true);
  for (const path of open) chmodSync(path, OWNER_ONLY);
  return open;
}

/** Writes a file that nobody else may read at any moment, in the place of whatever is there: a link too. */
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

/** The operator token of a data folder; a new one where there is none, or one of another custody domain. */
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

/** Whether others than its owner may read or write it; undefined where that can't be told. */
export function isOpenToOthers(path: string, mode: number = OTHERS): boolean | undefined {
  if (process.platform === "win32") return undefined;
  try {
    return (statSync(path).mode & mode) !== 0;
  } catch {
    return undefined;
  }
}

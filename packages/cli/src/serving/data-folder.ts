/// <reference types="node" />
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OWNER_ONLY = 0o600;

/** What lies in the folder of a hub, beside its database. */
export const DATA_FILES = {
  hubKey: "hub.key",
  operatorKey: "operator.key",
  operatorToken: "operator.token",
  url: "hub.url",
} as const;

/** Makes the folder for its owner alone; one that is there stays as it is. */
export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Writes a secret that nobody else may read at any moment. */
export function writeSecret(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  const part = `${path}.part`;
  rmSync(part, { force: true });
  writeFileSync(part, `${text}\n`, { mode: OWNER_ONLY, flag: "wx" });
  chmodSync(part, OWNER_ONLY);
  renameSync(part, path);
  return path;
}

/** Whether others than its owner may read it; undefined where that can't be told. */
export function isReadByOthers(path: string): boolean | undefined {
  if (process.platform === "win32") return undefined;
  try {
    return (statSync(path).mode & 0o077) !== 0;
  } catch {
    return undefined;
  }
}

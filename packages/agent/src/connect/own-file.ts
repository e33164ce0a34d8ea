/// <reference types="node" />
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** The content of a small file, or why it is not read. */
export type OwnFile = { readonly text: string } | { readonly why: string };

const BYTES_MAX = 64 * 1024;
// Undefined on Windows. Without O_NONBLOCK, opening a pipe would block.
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a small file that contains a hub's address or a secret. Symbolic links and files of other
 * users are refused.
 */
export function readOwn(path: string): OwnFile {
  let file: number;
  try {
    file = openSync(path, FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { why: WHY[code ?? ""] ?? `which can't be read (${code})` };
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return { why: "which is not a file" };
    if (isForeign(stats.uid)) return { why: "which belongs to another user and is not read" };
    if (stats.size > BYTES_MAX) return { why: "which is too large" };
    return { text: readFileSync(file, "utf8") };
  } finally {
    closeSync(file);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "which does not exist",
  ENOTDIR: "which does not exist",
  ELOOP: "which is a symbolic link and is not followed",
  EACCES: "which this user may not read",
};

/** Whether a file belongs to neither this user nor root, who can read everything anyway. */
export function isForeign(uid: number): boolean {
  const own = process.geteuid?.() ?? 0;
  return own !== 0 && uid !== own && uid !== 0;
}

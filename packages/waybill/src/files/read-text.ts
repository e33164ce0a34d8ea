/// <reference types="node" />
import { accessSync, constants, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { text } from "node:stream/consumers";
import { parseJson, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

/** Reads a file, or stdin for `-`. */
export async function readText(path: string): Promise<string> {
  if (path === "-") return text(process.stdin);
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** Refuses a path that is not a readable file, before anything else happens. */
export function checkFile(path: string): void {
  let isFolder: boolean;
  try {
    accessSync(path, constants.R_OK);
    isFolder = statSync(path).isDirectory();
  } catch (cause) {
    throw unreadable(path, cause);
  }
  if (isFolder) throw unreadable(path, { code: "EISDIR" });
}

/** The error for an unreadable file that was named on the command line. */
export function unreadable(path: string, cause: unknown): WaybillError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const describe = WHY[code ?? ""] ?? (() => `The file ${path} can't be read: ${message}.`);
  return new WaybillError(400, describe(path), { cause });
}

const WHY: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) =>
    `The file ${path} does not exist. Check the path: ${isAbsolute(path) ? "a folder or the name may be misspelled" : `it was looked for in ${process.cwd()}`}.`,
  EACCES: (path) =>
    `The file ${path} can't be read: permission denied. Run the command as its owner, or give this user read permission.`,
  EISDIR: (path) => `${path} is a folder, not a file. Name a file in it.`,
  ENOTDIR: (path) =>
    `The file ${path} does not exist: a part of the path is a file, not a folder. Check the path.`,
};

/** Reads JSON from the command line, from a file after `@`, or from stdin for `-`. */
export async function readJson(given: string, what: string): Promise<Json> {
  const isFile = given.startsWith("@") || given === "-";
  const source = isFile ? await readText(given === "-" ? "-" : given.slice(1)) : given;
  const name = given === "-" ? "stdin" : `the file ${given.slice(1)}`;
  if (source.trim() === "") throw new WaybillError(400, emptyText(what, given, name));
  try {
    return parseJson(source);
  } catch (cause) {
    const hint = isFile
      ? `It was read from ${name}.`
      : `A text needs its own quotes: '"${given.slice(0, 40)}"'. To read a file, put @ before its path: @input.json`;
    const { message } = cause as Error;
    throw new WaybillError(400, `${what} is not valid JSON: ${message} ${hint}`, { cause });
  }
}

function emptyText(what: string, given: string, name: string): string {
  if (given === "-") {
    return `${what} is empty: stdin has no content. Pipe JSON in: echo '{"topic":"tea"}' | waybill … -`;
  }
  const where = given.startsWith("@") ? `${name} has no content` : "the text is empty";
  return `${what} is empty: ${where}. It must be JSON, such as '{"topic":"tea"}'.`;
}

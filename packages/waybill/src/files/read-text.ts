/// <reference types="node" />
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { parseJson, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

/** A file, or stdin for `-`. */
export async function readText(path: string): Promise<string> {
  if (path === "-") return text(process.stdin);
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

export function unreadable(path: string, cause: unknown): WaybillError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = WHY[code ?? ""] ?? message;
  const status = code === "ENOENT" ? 404 : 400;
  return new WaybillError(status, `The file ${path} can't be read: ${why}. Check the path.`, {
    cause,
  });
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "there is none",
  EACCES: "this user may not read it",
  EISDIR: "it is a folder",
};

/** JSON as it stands on the command line, in a file after `@`, or on stdin for `-`. */
export async function readJson(given: string, what: string): Promise<Json> {
  const isFile = given.startsWith("@") || given === "-";
  const source = isFile ? await readText(given === "-" ? "-" : given.slice(1)) : given;
  try {
    return parseJson(source);
  } catch (cause) {
    const hint = isFile ? "" : ` A text needs quotes of its own: '"${given.slice(0, 40)}"'.`;
    throw new WaybillError(400, `${what} is not JSON: ${(cause as Error).message}${hint}`, {
      cause,
    });
  }
}

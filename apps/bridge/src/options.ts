/// <reference types="node" />
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Options {
  readonly isJson: boolean;
  /** Where the database and the keys are kept. */
  readonly folder: string;
}

/** Ends the process if the options are invalid. */
export function readOptions(args: string[]): Options {
  try {
    const { values } = parseArgs({
      args,
      options: { json: { type: "boolean", default: false }, data: { type: "string" } },
    });
    return { isJson: values.json, folder: folderFor(values.data) };
  } catch (error) {
    console.error(`${(error as Error).message}\nThe options are --json and --data <folder>.`);
    process.exit(2);
  }
}

function folderFor(data: string | undefined): string {
  if (data === undefined) return mkdtempSync(join(tmpdir(), "waybill-demo-"));
  const folder = resolve(data);
  if (existsSync(join(folder, "hub.db"))) {
    throw new Error(
      `There is a database in ${folder} already. Each run needs a folder of its own.`,
    );
  }
  mkdirSync(folder, { recursive: true });
  return folder;
}

/// <reference types="node" />
import { existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { WaybillError } from "@waybill/protocol";
import { failureOf } from "./failure.ts";
import { makePrivate } from "./private-file.ts";
import { syncFile, syncName } from "./sync.ts";

// In a thread of its own, so that a hub goes on while gigabytes are copied: SQLite's own copy of
// one moment, which what is committed meanwhile does not disturb.
const COPY = `
  const { workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(workerData.from, { readOnly: true });
  database.prepare("VACUUM INTO ?").run(workerData.to);
  database.close();
`;

/** Writes a copy for its owner alone, that is whole or not there at all: under another name until it is on the disk. */
export async function backUp(from: string, path: string): Promise<void> {
  const to = resolve(path);
  if (existsSync(to)) {
    throw new WaybillError(
      400,
      `${to} already exists, and a backup never overwrites a file. Choose a new path, or move the old file away.`,
    );
  }
  const part = `${to}.part`;
  rmSync(part, { force: true });
  try {
    // SQLite copies into a file that is there, as long as it is empty.
    makePrivate(part);
    await run(new Worker(COPY, { eval: true, workerData: { from, to: part } }));
    syncFile(part);
    renameSync(part, to);
    syncName(to);
  } catch (error) {
    rmSync(part, { force: true });
    throw failureOf(error, to);
  }
}

function run(worker: Worker): Promise<void> {
  return new Promise((resolved, rejected) => {
    worker.once("error", rejected);
    worker.once("exit", () => resolved());
  });
}

/// <reference types="node" />
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { openSqliteReader, restoreSqliteStore } from "@waybill/store-sqlite";
import { WaybillError } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { isGiven } from "../command-line/given.ts";
import { makeFolder } from "../files/folder.ts";
import { checkFile } from "../files/read-text.ts";
import { pairs } from "../terminal/columns.ts";

export const run: Run = async ({ given, settings, terminal }) => {
  const { database } = settings.values;
  const backup = resolve(given.arguments["file"]!);
  checkFile(backup);
  // Logs contain commits even if their database is gone.
  const isThere = ["", "-wal", "-log"].some((ending) => existsSync(database + ending));
  if (isThere && !isGiven(given, "replace")) {
    throw new WaybillError(
      409,
      `${database} already exists, and nothing was changed. To move it aside and restore the backup, add --replace.`,
    );
  }
  makeFolder(dirname(database));
  const moveTo = isThere ? `${database}.before-${stamp(new Date())}` : undefined;
  terminal.status("checking and copying");
  await restoreSqliteStore(backup, database, { moveTo });
  const reader = await openSqliteReader(database);
  const { sequence, hash } = await reader.ledgerHead();
  await reader.close();
  await terminal.answer({ database, from: backup, moved_to: moveTo, sequence, hash }, (style) => {
    const rows = [
      ["from", backup],
      ["ledger", `up to entry ${sequence}, ${hash}`],
      ...(moveTo === undefined ? [] : [["before", `kept as ${moveTo}`] as const]),
    ] as const;
    return `${style.good("✔")} Restored and checked: ${style.strong(database)}\n\n${pairs(rows, style.faint)}\n\n${style.faint("Work from after the backup is missing: agents may hold receipts for handoffs that the hub no longer knows.")}`;
  });
};

function stamp(date: Date): string {
  return date.toISOString().replaceAll(/[-:]/g, "").replace(/\.\d+/, "");
}

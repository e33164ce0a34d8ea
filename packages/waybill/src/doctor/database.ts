/// <reference types="node" />
import { existsSync } from "node:fs";
import { verifyLedger } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { openSqliteReader } from "@waybill/store-sqlite";
import { entriesOf } from "../files/ledger-file.ts";
import type { Settings } from "../settings/settings.ts";
import { ok, skipped, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

const RESTORE =
  "Keep the file for examination, and put a backup in its place: waybill restore <backup> --replace";

/** Checks every page, and every link of the ledger's chain. */
export async function checkDatabase({ values: { database } }: Settings): Promise<Finding> {
  if (!existsSync(database)) return skipped("database", `${database} does not exist yet.`);
  try {
    const reader = await openSqliteReader(database);
    try {
      await reader.check();
    } finally {
      await reader.close();
    }
  } catch (error) {
    return wrong("database", WaybillError.from(error).message, RESTORE);
  }
  const report = await verifyLedger(entriesOf(database));
  return report.holds
    ? ok(
        "database",
        `${database}, every page is intact, and so is the ledger of ${report.entries.toLocaleString("en")} entries`,
      )
    : wrong("database", `The ledger in ${database} was changed: ${report.message}`, RESTORE);
}

/// <reference types="node" />
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openSqliteReader } from "@waybill/store-sqlite";
import type { Run } from "../command-line/command.ts";
import { makeFolder } from "../files/folder.ts";
import { checkFile } from "../files/read-text.ts";
import { pairs } from "../terminal/columns.ts";

export const run: Run = async ({ given, settings, terminal }) => {
  const { database, data } = settings.values;
  const file = resolve(given.arguments["file"]!);
  checkFile(database);
  makeFolder(dirname(file));
  terminal.status("copying");
  const reader = await openSqliteReader(database);
  try {
    await reader.backup(file);
  } finally {
    await reader.close();
  }
  terminal.status("checking the copy");
  const copy = await openSqliteReader(file);
  await copy.check();
  const { sequence, hash } = await copy.ledgerHead();
  await copy.close();
  const log = existsSync(`${file}-log`) ? readdirSync(`${file}-log`) : [];
  const files = [file, ...log.map((name) => join(`${file}-log`, name))];
  const size = files.reduce((sum, each) => sum + statSync(each).size, 0);
  const key = join(data, "hub.key");
  await terminal.answer(
    { backup: file, of: database, bytes: size, sequence, hash, key },
    (style) => {
      const rows = [
        ["of", database],
        ["size", `${(size / 1024 / 1024).toFixed(2)} MiB`],
        ["ledger", `up to entry ${sequence}, ${hash}`],
      ] as const;
      return `${style.good("✔")} Written and checked: ${style.strong(file)}\n\n${pairs(rows, style.faint)}\n\n${style.faint(`It opens only with the hub's key: keep a copy of ${key} too, in another place.`)}`;
    },
  );
};

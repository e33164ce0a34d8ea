// Judges the official test suite and writes the table into the README: `pnpm suite`. With the folder
// of another version of the suite, it only prints the table: `node suite/run.ts <folder>`.
import { readFileSync, writeFileSync } from "node:fs";
import { downloadSuite } from "./download.ts";
import { judgeSuite } from "./judge.ts";
import { tableOf, withTable } from "./table.ts";

const README = new URL("../README.md", import.meta.url);

const [folder] = process.argv.slice(2);
const files = judgeSuite(folder ?? (await downloadSuite()));
const table = tableOf(files);
console.log(table);
for (const { name, wrong } of files)
  for (const each of wrong) console.log(`wrong: ${name}: ${each}`);
if (files.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1;
if (folder === undefined) writeFileSync(README, withTable(readFileSync(README, "utf8"), table));

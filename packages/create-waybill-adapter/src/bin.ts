#!/usr/bin/env node
/// <reference types="node" />
import { relative } from "node:path";
import process from "node:process";
import { createAdapter } from "./create.ts";

const USAGE =
  "npm create waybill-adapter <framework> [folder], such as: npm create waybill-adapter acme";
const [name, folder] = process.argv.slice(2);

if (name === "--help") {
  console.log(USAGE);
  process.exit(0);
}
if (name === undefined || name.startsWith("-")) {
  console.error(USAGE);
  process.exit(2);
}
try {
  const created = await createAdapter({ name, folder });
  const where = relative(process.cwd(), created.folder) || ".";
  console.log(`${created.packageName} is in ${where}: ${created.files.length} files.

  cd ${where}
  npm install
  npm test        # the cases of the adapter suite: all green from the start

GUIDE.md shows how to turn it into your own adapter.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

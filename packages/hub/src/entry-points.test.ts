/// <reference types="node" />
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What an application reads or passes, and the author of a store implements. */
const OF_BOTH = ["LedgerEntry", "LedgerHead", "Store"];

function exportedBy(file: string): string[] {
  const source = readFileSync(new URL(file, import.meta.url), "utf8");
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  return lists
    .flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()))
    .filter(Boolean);
}

test("what only the author of a store needs is exported by @waybill/hub/store alone", () => {
  const application = exportedBy("index.ts");
  const store = exportedBy("store-driver.ts");
  expect(store).toContain("StoredHandoff");
  expect(application.filter((name) => store.includes(name)).toSorted()).toEqual(OF_BOTH);
});

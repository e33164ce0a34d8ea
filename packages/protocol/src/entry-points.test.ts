/// <reference types="node" />
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const HOME = new URL("../", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, HOME), "utf8");
const { exports, publishConfig } = JSON.parse(read("package.json")) as {
  exports: Record<string, string>;
  publishConfig: { exports: object };
};
const README = read("README.md");
const ENTRIES = Object.entries(exports).map(([subpath, file]) => ({
  subpath,
  name: `@waybill/protocol${subpath.slice(1)}`,
  names: exportedBy(read(file)),
}));

function exportedBy(source: string): string[] {
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)];
  return lists
    .flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()))
    .filter(Boolean);
}

const namesOf = (subpath: string): string[] =>
  ENTRIES.find((entry) => entry.subpath === subpath)!.names;

test("every entry point is published and says in the README whom it is for", () => {
  expect(Object.keys(publishConfig.exports)).toEqual(Object.keys(exports));
  const rows = README.split("\n").filter((line) => line.startsWith("| `@waybill/protocol"));
  for (const { subpath, name } of ENTRIES) {
    const named = subpath === "./ed25519-portable" ? "`/ed25519-portable`" : `\`${name}\``;
    expect(rows.filter((row) => row.includes(named))).toHaveLength(1);
  }
});

test("each name has one entry point", () => {
  const shared = ["./ed25519-portable"];
  const all = ENTRIES.filter(({ subpath }) => !shared.includes(subpath)).flatMap(
    ({ names }) => names,
  );
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
  expect(namesOf("./ed25519-portable")).toEqual(namesOf("./ed25519"));
});

test("an author of an agent does not see what decides for hubs and auditors", () => {
  const agent = namesOf(".");
  expect(agent).toContain("verifyEnvelope");
  expect(agent).not.toContain("step");
  expect(namesOf("./hub")).toContain("step");
  expect(namesOf("./audit")).toContain("checkHistory");
});

test("what the README recommends is exported where it says", () => {
  const rows = README.slice(README.indexOf("## What is in it"), README.indexOf("## Entry points"))
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
    .slice(1);
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const entry = /`(\/[\w-]+)`/.exec(row)?.[1];
    const names = Array.from(row.matchAll(/`(\w+)`/g), ([, name]) => name!);
    const exported = namesOf(entry === undefined ? "." : `.${entry}`);
    expect(names.filter((name) => name !== "status" && !exported.includes(name))).toEqual([]);
  }
});

/// <reference types="node" />
import { readFileSync, writeFileSync } from "node:fs";
import { summaryOf } from "./planted.ts";
import type { Planted } from "./planted.ts";
import { TABLES } from "./tables.ts";
import { KINDS } from "./arguments.ts";

const README = new URL("../README.md", import.meta.url);
const BEGIN = "<!-- mutants -->";
const END = "<!-- /mutants -->";
const HEAD = ["package", "faults", "planted", "killed", "survived"];
/** The first columns are texts, the others counts. */
const TEXTS = 2;

/** Writes the rows of the packages and kinds that were run into the README; other rows stay. */
export function writeTable(all: readonly Planted[]): void {
  const page = readFileSync(README, "utf8");
  const [begin, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  const rows = new Map(
    page
      .slice(begin, end)
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) =>
        line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
      .map((cells) => [`${cells[0]} ${cells[1]}`, cells]),
  );
  const written: string[][] = [];
  for (const name of Object.keys(TABLES)) {
    for (const kind of KINDS) {
      const own = all.filter((each) => each.package === name && each.kind === kind);
      const { planted, killed, survived } = summaryOf(own);
      const counts = [planted, killed, survived.length].map(String);
      const row = planted > 0 ? [`\`${name}\``, kind, ...counts] : rows.get(`\`${name}\` ${kind}`);
      if (row !== undefined) written.push(row);
    }
  }
  writeFileSync(README, `${page.slice(0, begin)}\n\n${tableOf(written)}\n\n${page.slice(end)}`);
}

/** A table, as the formatter writes it. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_name, at) =>
    Math.max(...[HEAD, ...rows].map((row) => row[at]!.length)),
  );
  const lineOf = (cells: readonly string[]) => {
    const padded = cells.map((cell, at) =>
      at < TEXTS ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!),
    );
    return `| ${padded.join(" | ")} |`;
  };
  const rules = widths.map((width, at) =>
    at < TEXTS ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [lineOf(HEAD), lineOf(rules), ...rows.map(lineOf)].join("\n");
}

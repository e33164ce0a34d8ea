/// <reference types="node" />
import { readFileSync, writeFileSync } from "node:fs";
import { WaybillError } from "@waybill/protocol";
import { CLASSES } from "./classes.ts";
import { cellsOf, figuresOf, readTable, tableOf } from "./report.ts";
import type { Row } from "./run/trial.ts";

const README = new URL("../README.md", import.meta.url);
const SECURITY = new URL("../../../SECURITY.md", import.meta.url);
const BEGIN = "<!-- siege -->";
const END = "<!-- /siege -->";

/** Writes the rows of a run into the README's table; rows of other classes stay. */
export function writeTable(rows: readonly Row[], note: string): void {
  const known = [...readTable(written(README)), ...rows.map(cellsOf)];
  const byClass = new Map(known.map((cells) => [cells[0], cells]));
  const places = CLASSES.map(({ name }) => `\`${name}\``);
  const cells = places.filter((name) => byClass.has(name)).map((name) => byClass.get(name)!);
  write(README, `${tableOf(cells)}\n\n${note}`);
  const full = CLASSES.filter(({ hub }) => hub?.diskBytes !== undefined);
  write(
    SECURITY,
    figuresOf(
      cells,
      full.map(({ name }) => name),
    ),
  );
}

/** The classes in the README's table, in order. */
export function classesListed(): string[] {
  return readTable(written(README)).map(([name]) => name!.slice(1, -1));
}

/** The figures of the last run in SECURITY.md. */
export function figuresWritten(): string {
  return written(SECURITY).trim();
}

function write(file: URL, text: string): void {
  const page = readFileSync(file, "utf8");
  const [begin, end] = placeIn(file, page);
  writeFileSync(file, `${page.slice(0, begin)}\n\n${text}\n\n${page.slice(end)}`);
}

function written(file: URL): string {
  const page = readFileSync(file, "utf8");
  return page.slice(...placeIn(file, page));
}

function placeIn(file: URL, page: string): [begin: number, end: number] {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) {
    throw new WaybillError(404, `${file.pathname} has no block ${BEGIN} … ${END} to write to.`);
  }
  return [begin + BEGIN.length, end];
}

/// <reference types="node" />
import { readFileSync, writeFileSync } from "node:fs";
import { WaybillError } from "@waybill/protocol";

const README = new URL("../README.md", import.meta.url);
const SECURITY = new URL("../../../SECURITY.md", import.meta.url);
const BEGIN = "<!-- siege -->";
const END = "<!-- /siege -->";

/** Replaces the table of the README by that of this run. */
export function writeTable(text: string): void {
  write(README, text);
}

/** Replaces the figures in SECURITY.md by those of this run. */
export function writeFigures(text: string): void {
  write(SECURITY, text);
}

/** The classes that the README lists, in its order. */
export function classesListed(): string[] {
  return [...written(README).matchAll(/^\| `([a-z0-9-]+)`/gm)].map(([, name]) => name!);
}

/** What SECURITY.md says of the last run. */
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

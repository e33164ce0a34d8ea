/// <reference types="node" />
import { readFileSync, writeFileSync } from "node:fs";
import { WaybillError } from "@waybill/protocol";

const README = new URL("../README.md", import.meta.url);
const BEGIN = "<!-- siege -->";
const END = "<!-- /siege -->";

/** Puts what a run found in the place of what the last one did. */
export function writeTable(text: string): void {
  const readme = readFileSync(README, "utf8");
  const [begin, end] = placeIn(readme);
  writeFileSync(README, `${readme.slice(0, begin)}\n\n${text}\n\n${readme.slice(end)}`);
}

/** The classes that the README lists, in its order. */
export function classesListed(): string[] {
  const readme = readFileSync(README, "utf8");
  const table = readme.slice(...placeIn(readme));
  return [...table.matchAll(/^\| `([a-z0-9-]+)`/gm)].map(([, name]) => name!);
}

function placeIn(readme: string): [begin: number, end: number] {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) {
    throw new WaybillError(404, `The README has no place for the table: ${BEGIN} … ${END}.`);
  }
  return [begin + BEGIN.length, end];
}

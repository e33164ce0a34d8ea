/// <reference types="node" />
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { SEED } from "./breadth/sources.ts";
import { TABLES } from "./tables.ts";

export const KINDS = ["by hand", "generated"] as const;
/** Where a fault comes from: a table, or the generator. */
export type Kind = (typeof KINDS)[number];

export interface Arguments {
  readonly packages: readonly string[];
  readonly kinds: readonly Kind[];
  /** A part of the names. */
  readonly name: string;
  readonly sample: number | undefined;
  /** No fault is planted after this time. */
  readonly minutes: number;
  readonly seed: number;
  readonly atOnce: number;
  readonly isJson: boolean;
  readonly isWriting: boolean;
}

/** Throws for what it does not know. */
export function readArguments(words: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      "by-hand": { type: "boolean", default: false },
      generated: { type: "boolean", default: false },
      name: { type: "string", default: "" },
      sample: { type: "string" },
      minutes: { type: "string" },
      seed: { type: "string" },
      "at-once": { type: "string" },
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.filter((each) => !Object.hasOwn(TABLES, each));
  if (unknown.length > 0) {
    const known = Object.keys(TABLES).join(", ");
    throw new Error(`No faults are planted in ${unknown.join(", ")}, but in: ${known}.`);
  }
  const { "by-hand": byHand, generated, seed = SEED, minutes = Infinity } = values;
  const kinds = KINDS.filter(
    (kind) => byHand === generated || generated === (kind === "generated"),
  );
  return {
    packages: positionals.length > 0 ? positionals : Object.keys(TABLES),
    kinds,
    name: values.name,
    sample: values.sample === undefined ? undefined : countOf("sample", values.sample),
    minutes: minutes === Infinity ? Infinity : countOf("minutes", minutes),
    seed: countOf("seed", seed),
    atOnce: countOf("at-once", values["at-once"] ?? Math.min(4, availableParallelism())),
    isJson: values.json,
    isWriting: values.write,
  };
}

function countOf(name: string, value: string | number): number {
  const count = Number(value);
  if (!(count > 0)) throw new Error(`--${name} takes a number above zero, but it was ${value}.`);
  return count;
}

/// <reference types="node" />
import { parseArgs } from "node:util";

export interface Arguments {
  /** Undefined if none is named: then the groups are listed. */
  readonly group: string | undefined;
  readonly isJson: boolean;
  readonly isStrict: boolean;
  readonly rounds: number | undefined;
}

export const USAGE = "pnpm bench <group> [--json] [--strict] [--rounds <number>]";

/** Throws an Error whose message tells the user what is wrong with the command line. */
export function readArguments(given: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...given],
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
      rounds: { type: "string" },
    },
  });
  if (positionals.length > 1) {
    throw new Error(`One group at a time, but these are ${positionals.length}.`);
  }
  return {
    group: positionals[0],
    isJson: values.json,
    isStrict: values.strict,
    rounds: values.rounds === undefined ? undefined : roundsOf(values.rounds),
  };
}

function roundsOf(text: string): number {
  const rounds = Number(text);
  if (Number.isSafeInteger(rounds) && rounds >= 1) return rounds;
  throw new Error(`--rounds takes a whole number from 1 on, not "${text}".`);
}

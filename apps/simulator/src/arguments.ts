/// <reference types="node" />
import { parseArgs } from "node:util";
import type { Scenario } from "./world/scenario.ts";

export interface Arguments {
  readonly from: number;
  /** 0: until somebody stops it. */
  readonly seeds: number;
  readonly mutant: string | undefined;
  readonly workers: number | undefined;
  readonly isJson: boolean;
  readonly isTraced: boolean;
  readonly crashesAtEachCall: boolean;
  readonly storage: Scenario["storage"] | undefined;
  readonly lists: boolean;
}

/** An invalid command line; the message says why, and what to type. */
export class UsageError extends Error {}

export const USAGE = `Usage: pnpm simulate [--from <seed>] [--seeds <n>] [--mutant <name>] [--json]
  --from <seed>     the first seed (1)
  --seeds <n>       how many (200, or 400 with a planted bug); 0 goes on until it is stopped, and so does --forever
  --mutant <name>   with a planted bug, until a seed shows it; "all" for one after the other
  --workers <n>     threads (one for each processor)
  --trace           everything that happens in each world, line by line
  --each-call       a crash at each call to the disk of a small calm world, in every way there is
  --storage <name>  "log" for the store of @waybill/store-sqlite, "journal" for the memory store (the default)
  --list-mutants    the names of the planted bugs
  --json            nothing on the standard output but the JSON line at the end`;

const SEEDS = 200;
/** Every planted bug shows within this many seeds. */
const SEEDS_FOR_MUTANT = 400;

export function readArguments(args: readonly string[]): Arguments {
  const values = parse(args);
  const isForever = values.forever === true;
  if (isForever && values.seeds !== undefined) {
    throw new UsageError("--forever and --seeds contradict each other: leave one of them out.");
  }
  const usual = values.mutant === undefined ? SEEDS : SEEDS_FOR_MUTANT;
  return {
    from: numberOf("--from", values.from) ?? 1,
    seeds: isForever ? 0 : (numberOf("--seeds", values.seeds) ?? usual),
    mutant: values.mutant,
    workers: numberOf("--workers", values.workers),
    isJson: values.json === true,
    isTraced: values.trace === true,
    crashesAtEachCall: values["each-call"] === true,
    storage: storageOf(values.storage),
    lists: values["list-mutants"] === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      // pnpm passes on the "--" that its caller puts before the options.
      args: args.filter((each) => each !== "--"),
      options: {
        from: { type: "string" },
        seeds: { type: "string" },
        forever: { type: "boolean" },
        mutant: { type: "string" },
        workers: { type: "string" },
        json: { type: "boolean" },
        trace: { type: "boolean" },
        "each-call": { type: "boolean" },
        storage: { type: "string" },
        "list-mutants": { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function storageOf(name: string | undefined): Scenario["storage"] | undefined {
  if (name === undefined || name === "journal" || name === "log") return name;
  throw new UsageError(`--storage takes "log" or "journal", not ${JSON.stringify(name)}.`);
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new UsageError(
    `${name} takes a whole number from 0 up, and ${JSON.stringify(text)} is none.`,
  );
}

/// <reference types="node" />
import { parseArgs } from "node:util";
import { WaybillError } from "@waybill/protocol";
import type { AttackClass } from "./attack-class.ts";
import { classNamed } from "./classes.ts";

export interface Arguments {
  /** What all classes may take in all, starting and restarting hubs included. */
  readonly minutes: number;
  /** All where it is left out. */
  readonly only: readonly AttackClass[] | undefined;
  readonly isJson: boolean;
  /** Whether the table of the README is written. */
  readonly isWriting: boolean;
  /** Whether latency and memory decide, too, or are only reported. */
  readonly judgesFigures: boolean;
}

const MINUTES = 4;

export function readArguments(given: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: given.filter((each) => each !== "--"),
    options: {
      minutes: { type: "string", default: String(MINUTES) },
      only: { type: "string", multiple: true },
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      "report-figures": { type: "boolean", default: false },
    },
  });
  const only = values.only?.flatMap((names) => names.split(",")).map(classNamed);
  return {
    minutes: minutesOf(values.minutes),
    only,
    isJson: values.json,
    isWriting: values.write,
    judgesFigures: !values["report-figures"],
  };
}

function minutesOf(text: string): number {
  const minutes = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && minutes > 0) return minutes;
  throw new WaybillError(400, `--minutes takes a number above 0, not ${JSON.stringify(text)}.`);
}

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
  /** Whether latency decides, too, or is only reported. */
  readonly judgesLatency: boolean;
}

/** Enough for all classes: none is shorter than it has to be. */
const MINUTES = 7;

export function readArguments(given: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: given.filter((each) => each !== "--"),
    options: {
      minutes: { type: "string", default: String(MINUTES) },
      only: { type: "string", multiple: true },
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      "report-latency": { type: "boolean", default: false },
    },
  });
  const only = values.only?.flatMap((names) => names.split(",")).map(classNamed);
  return {
    minutes: minutesOf(values.minutes),
    only,
    isJson: values.json,
    isWriting: values.write,
    judgesLatency: !values["report-latency"],
  };
}

function minutesOf(text: string): number {
  const minutes = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && minutes > 0) return minutes;
  throw new WaybillError(400, `--minutes takes a number above 0, not ${JSON.stringify(text)}.`);
}

/// <reference types="node" />
import { parseArgs } from "node:util";
import { WaybillError } from "@waybill/protocol";
import type { AttackClass } from "./attack-class.ts";
import { classNamed } from "./classes.ts";

export interface Arguments {
  /** The total time for all classes, including starts and restarts of hubs. */
  readonly minutes: number;
  /** By default all. */
  readonly only: readonly AttackClass[] | undefined;
  readonly isJson: boolean;
  /** Whether to write the README's table. */
  readonly isWriting: boolean;
  /** Whether latency is judged, and not only reported. */
  readonly judgesLatency: boolean;
}

/** Enough for all classes: none is shortened. */
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

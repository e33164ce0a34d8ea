/// <reference types="node" />
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { WaybillError } from "@waybill/protocol";

export interface Arguments {
  readonly handoffs: number;
  readonly kills: number;
  readonly seed: number;
  readonly isJson: boolean;
}

const HANDOFFS_PER_KILL = 5;

export function readArguments(given: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      handoffs: { type: "string", default: "300" },
      kills: { type: "string" },
      seed: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const handoffs = whole("handoffs", values.handoffs);
  return {
    handoffs,
    kills: whole("kills", values.kills ?? String(Math.ceil(handoffs / HANDOFFS_PER_KILL))),
    seed: whole("seed", values.seed ?? String(randomInt(2 ** 31))),
    isJson: values.json,
  };
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new WaybillError(400, `--${name} takes a whole number, not ${JSON.stringify(text)}.`);
}

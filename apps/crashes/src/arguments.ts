/// <reference types="node" />
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { WaybillError } from "@waybill/protocol";
import { TOPOLOGIES } from "./plan/plan.ts";
import type { Topology } from "./plan/plan.ts";

export interface Arguments {
  readonly handoffs: number;
  readonly kills: number;
  readonly seed: number;
  readonly topology: Topology;
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
      topology: { type: "string", default: "hub_apart" },
      json: { type: "boolean", default: false },
    },
  });
  const handoffs = whole("handoffs", values.handoffs);
  return {
    handoffs,
    kills: whole("kills", values.kills ?? String(Math.ceil(handoffs / HANDOFFS_PER_KILL))),
    seed: whole("seed", values.seed ?? String(randomInt(2 ** 31))),
    topology: topologyNamed(values.topology),
    isJson: values.json,
  };
}

export function whole(name: string, text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new WaybillError(400, `--${name} takes a whole number, not ${JSON.stringify(text)}.`);
}

function topologyNamed(name: string): Topology {
  if (Object.hasOwn(TOPOLOGIES, name)) return name as Topology;
  const names = Object.keys(TOPOLOGIES).join(" or ");
  throw new WaybillError(400, `--topology takes ${names}, not ${JSON.stringify(name)}.`);
}

import type { StatusCode } from "@waybill/protocol";
import type { Plan, Topology } from "../plan/plan.ts";
import type { Course } from "../supervise/run.ts";
import type { Evidence } from "./evidence.ts";
import { lostAttempts } from "./lost-attempts.ts";
import type { Property } from "./properties.ts";

/** A run in numbers. */
export interface Summary {
  readonly seed: number;
  readonly topology: Topology;
  readonly seconds: number;
  /** In custody, children included. */
  readonly handoffs: number;
  readonly kills: Readonly<Record<string, number>>;
  /** How many were offered, how many were lost, and how many were lost without a kill. */
  readonly attempts: { readonly offered: number; readonly lost: number; readonly unforced: number };
  /** How the delegator's handoffs ended, by status. */
  readonly ends: Readonly<Record<string, number>>;
  readonly deadLetters: number;
  readonly effects: { readonly unique: number; readonly repeated: number };
  readonly violations: number;
  readonly failures: Readonly<Record<string, number>>;
}

export function summaryOf(
  { seed, topology }: Plan,
  { outages, repeatedEffects, failures }: Course,
  { history, handoffs, effects, applied }: Evidence,
  properties: readonly Property[],
  seconds: number,
): Summary {
  const states = [...handoffs.values()].map(({ state }) => state);
  const lost = lostAttempts(history, topology, outages);
  const statuses = applied.map(({ status }): StatusCode => status);
  return {
    seed,
    topology,
    seconds: Math.round(seconds),
    handoffs: handoffs.size,
    kills: counted(outages.map(({ name }) => name)),
    attempts: {
      offered: history.filter((entry) => entry.type === "event" && entry.event.type === "offer")
        .length,
      lost: lost.length,
      unforced: lost.filter(({ isForced }) => !isForced).length,
    },
    ends: counted(statuses),
    deadLetters: states.filter((state) => state === "dead_lettered").length,
    effects: { unique: effects.length, repeated: repeatedEffects },
    violations: properties.reduce((sum, { problems }) => sum + problems.length, 0),
    failures: Object.fromEntries(failures),
  };
}

function counted(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

export function linesOf(summary: Summary): string[] {
  const { failures, ...numbers } = summary;
  const lines = Object.entries(numbers).map(([name, value]) => {
    const text = typeof value === "object" ? pairsOf(value) : String(value);
    return `${name.padEnd(12)} ${text}`;
  });
  const logged = Object.entries(failures).map(([message, times]) => `logged ${times} x ${message}`);
  return [...lines, ...logged];
}

function pairsOf(value: Readonly<Record<string, number>>): string {
  return Object.entries(value)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

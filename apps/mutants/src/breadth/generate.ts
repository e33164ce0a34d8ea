/// <reference types="node" />
import { createHash } from "node:crypto";
import { OPERATORS } from "./operators.ts";
import { placesIn } from "./syntax.ts";

/** A generated fault in one source. */
export interface GeneratedFault {
  /** The source, relative to the package. */
  readonly file: string;
  readonly line: number;
  readonly operator: string;
  readonly at: number;
  readonly find: string;
  readonly replace: string;
  /** The same for the same fault, wherever in the source it is. */
  readonly name: string;
}

/** Every fault that the operators find in a source. Of those that give equal sources there is one. */
export function faultsIn(file: string, source: string): readonly GeneratedFault[] {
  const faults: GeneratedFault[] = [];
  const sources = new Set([source]);
  const counts = new Map<string, number>();
  for (const place of placesIn(file, source)) {
    for (const [operator, editOf] of Object.entries(OPERATORS)) {
      const edit = editOf(place, ({ start, end }) => source.slice(start, end));
      if (edit === undefined) continue;
      const changed = source.slice(0, edit.start) + edit.text + source.slice(edit.end);
      if (sources.has(changed)) continue;
      sources.add(changed);
      const find = source.slice(edit.start, edit.end);
      const lineStart = source.lastIndexOf("\n", edit.start - 1) + 1;
      const lineEnd = source.indexOf("\n", edit.start);
      const text = source.slice(lineStart, lineEnd < 0 ? undefined : lineEnd).trim();
      const base = `${operator}: ${file}: ${text}`;
      const count = (counts.get(base) ?? 0) + 1;
      counts.set(base, count);
      faults.push({
        file,
        line: source.slice(0, edit.start).split("\n").length,
        operator,
        at: edit.start,
        find,
        replace: edit.text,
        name: count === 1 ? base : `${base} (${count})`,
      });
    }
  }
  return faults;
}

/**
 * So many faults, spread over the operators. Which ones depends on the seed and on each fault alone:
 * a change of one source leaves the choice in the others as it is.
 */
export function chosenFaults(
  faults: readonly GeneratedFault[],
  count: number,
  seed: number,
): readonly GeneratedFault[] {
  const queues = new Map<string, GeneratedFault[]>();
  for (const [, fault] of faults
    .map((each) => [rankOf(seed, each.name), each] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const queue = queues.get(fault.operator) ?? [];
    queues.set(fault.operator, queue);
    queue.push(fault);
  }
  const chosen: GeneratedFault[] = [];
  const waiting = [...queues.values()];
  while (chosen.length < count && waiting.some(({ length }) => length > 0)) {
    for (const queue of waiting) {
      const next = queue.shift();
      if (next !== undefined && chosen.length < count) chosen.push(next);
    }
  }
  return chosen;
}

function rankOf(seed: number, name: string): string {
  return createHash("sha256").update(`${seed} ${name}`).digest("hex");
}

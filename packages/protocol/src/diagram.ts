import { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./transitions.ts";
import type { AttemptMove, AttemptState } from "./transitions.ts";

/** The lifecycle as Mermaid state diagrams in Markdown: the handoff, then the attempt. */
export function lifecycleDiagram(): string {
  return [fenced(handoffLines()), fenced(attemptLines())].join("\n\n");
}

function fenced(lines: readonly string[]): string {
  return ["```mermaid", "stateDiagram-v2", ...lines.map((line) => `  ${line}`), "```"].join("\n");
}

function handoffLines(): string[] {
  const moves = Object.entries(HANDOFF_MOVES);
  const sources = new Set<string>(moves.map(([, { from }]) => from));
  const ends = new Set(moves.map(([, { to }]) => to).filter((to) => !sources.has(to)));
  return [
    ...moves.map(
      ([name, { by, from, to, meaning }]) =>
        `${from === "none" ? "[*]" : from} --> ${to}: ${name} (${by}), ${meaning}`,
    ),
    ...Array.from(ends, (state) => `${state} --> [*]`),
  ];
}

function attemptLines(): string[] {
  const edges = new Map<string, { names: string[]; by: string }>();
  for (const [name, move] of Object.entries(ATTEMPT_MOVES)) {
    for (const [from, to] of Object.entries(move.moves)) {
      const arrow = `${from} --> ${targetOf(move, to)}`;
      const edge = edges.get(`${arrow} ${move.by}`);
      if (edge === undefined) edges.set(`${arrow} ${move.by}`, { names: [name], by: move.by });
      else edge.names.push(name);
    }
  }
  const closed = Object.entries(CLOSE_REASONS).map(([reason, { meaning }]) => ({
    reason,
    meaning,
  }));
  return [
    "[*] --> offered: offer (hub)",
    ...Array.from(
      edges,
      ([key, { names, by }]) => `${key.slice(0, -by.length - 1)}: ${names.join(", ")} (${by})`,
    ),
    "state closed {",
    ...closed.map(({ reason, meaning }) => `  ${reason}: ${reason}, ${meaning}`),
    "}",
    "closed --> [*]",
  ];
}

function targetOf(move: AttemptMove, to: AttemptState): string {
  return move.closes ?? to;
}

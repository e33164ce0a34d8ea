import { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./transitions.ts";

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
  const namesOf = new Map<string, string[]>();
  for (const [name, { by, moves, closes }] of Object.entries(ATTEMPT_MOVES)) {
    for (const [from, to] of Object.entries(moves)) {
      const edge = `${from} --> ${closes ?? to}|${by}`;
      namesOf.set(edge, [...(namesOf.get(edge) ?? []), name]);
    }
  }
  return [
    // Mermaid places a state where it first occurs, so the members of `closed` precede the arrows.
    "state closed {",
    ...Object.entries(CLOSE_REASONS).map(
      ([reason, { meaning }]) => `  ${reason}: ${reason}, ${meaning}`,
    ),
    "}",
    "[*] --> offered: offer (hub)",
    ...Array.from(namesOf, ([edge, names]) => {
      const [arrow, by] = edge.split("|");
      return `${arrow}: ${names.join(", ")} (${by})`;
    }),
    "closed --> [*]",
  ];
}

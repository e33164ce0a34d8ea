import { expect, test } from "vitest";
import { lifecycleDiagram } from "./diagram.ts";
import { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./transitions.ts";

const [handoff, attempt] = lifecycleDiagram()
  .split("\n\n")
  .map((diagram) => diagram.split("\n").map((line) => line.trim()));

test("two Mermaid diagrams", () => {
  for (const lines of [handoff!, attempt!]) {
    expect(lines.slice(0, 2)).toEqual(["```mermaid", "stateDiagram-v2"]);
    expect(lines.at(-1)).toBe("```");
  }
});

test("each row of the table of handoffs is an arrow, and no arrow leaves an end", () => {
  for (const [name, { by, from, to }] of Object.entries(HANDOFF_MOVES)) {
    const start = `${from === "none" ? "[*]" : from} --> ${to}: ${name} (${by}), `;
    expect(handoff!.filter((line) => line.startsWith(start))).toHaveLength(1);
  }
  const arrows = handoff!.filter((line) => line.includes("-->"));
  expect(arrows).toHaveLength(Object.keys(HANDOFF_MOVES).length + 4);
  for (const state of ["completed", "failed", "cancelled", "dead_lettered"]) {
    expect(arrows.filter((line) => line.startsWith(state))).toEqual([`${state} --> [*]`]);
  }
});

test("each transition of an attempt is an arrow, and there are no others", () => {
  let moves = 0;
  for (const [name, { by, moves: row, closes }] of Object.entries(ATTEMPT_MOVES)) {
    for (const [from, to] of Object.entries(row)) {
      const start = `${from} --> ${closes ?? to}: `;
      const names = attempt!
        .filter((line) => line.startsWith(start) && line.endsWith(`(${by})`))
        .flatMap((line) => line.slice(start.length, -by.length - 3).split(", "));
      expect(names.filter((each) => each === name)).toEqual([name]);
      moves++;
    }
  }
  const arrows = attempt!.filter((line) => /^\w+ --> \w+: /.test(line));
  const named = arrows.flatMap((line) => line.replace(/^.*?: | \(\w+\)$/g, "").split(", "));
  expect(named).toHaveLength(moves);
});

test("every reason to close has its explanation beside it", () => {
  for (const [reason, { meaning }] of Object.entries(CLOSE_REASONS)) {
    expect(attempt).toContain(`${reason}: ${reason}, ${meaning}`);
  }
});

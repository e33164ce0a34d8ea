import { WaybillError } from "../error.ts";
import { isWordPart } from "./pattern-set.ts";
import type { CodePointSet } from "./pattern-set.ts";
import { parsePattern } from "./pattern-syntax.ts";
import type { Boundary, PatternTree } from "./pattern-syntax.ts";

/** Told how much work was done since it was last called; it may throw to end a search. */
export type Spend = (steps: number) => void;

export interface Pattern {
  readonly source: string;
  /** Instructions of the program: no position of a text ever costs more steps than its multiple. */
  readonly size: number;
  /** Whether the pattern is found anywhere in the text. */
  test(text: string, spend?: Spend): boolean;
}

const MAX_INSTRUCTIONS = 10_000;
const STEPS_PER_REPORT = 4_096;

type Instruction =
  | { op: "set"; set: CodePointSet }
  | { op: "boundary"; boundary: Boundary }
  | { op: "jump"; to: number }
  | { op: "split"; left: number; right: number }
  | { op: "match" };

/**
 * A pattern with the semantics of RE2: it is run as a set of states that move through the text
 * together, so the work is at most text × program, whatever the pattern and whatever the text.
 */
export function compilePattern(source: string): Pattern {
  const tree = parsePattern(source);
  const size = sizeOf(tree) + 1;
  if (size > MAX_INSTRUCTIONS) {
    throw new WaybillError(
      413,
      `the pattern expands to more than ${MAX_INSTRUCTIONS} instructions; lower its repetition bounds`,
    );
  }
  const program: Instruction[] = [];
  emit(tree, program);
  program.push({ op: "match" });

  const search = searcher(program, startsAtStart(tree));
  return { source, size: program.length, test: search };
}

/**
 * What a tree expands to. An empty group counts as one, or a million repetitions of it would be free;
 * and the sum stops growing just over the limit, since Infinity × 0 would slip through as NaN.
 */
function sizeOf(tree: PatternTree): number {
  return Math.min(MAX_INSTRUCTIONS + 1, Math.max(1, expandedSize(tree)));
}

function expandedSize(tree: PatternTree): number {
  switch (tree.kind) {
    case "set":
    case "boundary":
      return 1;
    case "sequence":
      return tree.parts.reduce((sum, part) => sum + sizeOf(part), 0);
    case "choice":
      return tree.options.reduce((sum, option) => sum + sizeOf(option) + 2, 0);
    case "repeat": {
      const body = sizeOf(tree.body);
      return (
        tree.min * body + (tree.max === Infinity ? body + 2 : (tree.max - tree.min) * (body + 1))
      );
    }
  }
}

function emit(tree: PatternTree, program: Instruction[]): void {
  switch (tree.kind) {
    case "set":
      program.push({ op: "set", set: tree.set });
      return;
    case "boundary":
      program.push({ op: "boundary", boundary: tree.boundary });
      return;
    case "sequence":
      for (const part of tree.parts) emit(part, program);
      return;
    case "choice":
      emitChoice(tree.options, program);
      return;
    case "repeat":
      emitRepeat(tree, program);
  }
}

function emitChoice(options: readonly PatternTree[], program: Instruction[]): void {
  const exits: { op: "jump"; to: number }[] = [];
  for (const [index, option] of options.entries()) {
    const split = { op: "split" as const, left: program.length + 1, right: -1 };
    if (index < options.length - 1) program.push(split);
    emit(option, program);
    if (index === options.length - 1) break;
    const exit = { op: "jump" as const, to: -1 };
    program.push(exit);
    exits.push(exit);
    split.right = program.length;
  }
  for (const exit of exits) exit.to = program.length;
}

function emitRepeat(
  { body, min, max }: Extract<PatternTree, { kind: "repeat" }>,
  program: Instruction[],
): void {
  for (let count = 0; count < min; count += 1) emit(body, program);
  if (max === Infinity) {
    const split = { op: "split" as const, left: program.length + 1, right: -1 };
    const top = program.push(split) - 1;
    emit(body, program);
    program.push({ op: "jump", to: top });
    split.right = program.length;
    return;
  }
  const splits: { op: "split"; left: number; right: number }[] = [];
  for (let count = min; count < max; count += 1) {
    const split = { op: "split" as const, left: program.length + 1, right: -1 };
    program.push(split);
    splits.push(split);
    emit(body, program);
  }
  for (const split of splits) split.right = program.length;
}

/** Whether a match can only begin where the text begins, so that a search may end early. */
function startsAtStart(tree: PatternTree): boolean {
  switch (tree.kind) {
    case "boundary":
      return tree.boundary === "start";
    case "sequence":
      return tree.parts.length > 0 && startsAtStart(tree.parts[0]!);
    case "choice":
      return tree.options.every(startsAtStart);
    default:
      return false;
  }
}

function searcher(program: readonly Instruction[], isAnchored: boolean): Pattern["test"] {
  // Kept between searches: a fresh set for each of 100,000 short texts would cost more than the search.
  let seenAt: Float64Array | undefined;
  let round = 0;

  return (text, spend) => {
    seenAt ??= new Float64Array(program.length).fill(-1);
    const seen = seenAt;
    let waiting: number[] = [];
    let next: number[] = [];
    let steps = 0;
    let position = 0;
    let before = -1;
    for (;;) {
      const here = text.codePointAt(position) ?? -1;
      round += 1;
      if (position === 0 || !isAnchored) waiting.push(0);
      while (waiting.length > 0) {
        const at = waiting.pop()!;
        if (seen[at] === round) continue;
        seen[at] = round;
        steps += 1;
        const instruction = program[at]!;
        switch (instruction.op) {
          case "set":
            steps += instruction.set.cost;
            if (here >= 0 && instruction.set.has(here)) next.push(at + 1);
            break;
          case "boundary":
            if (holds(instruction.boundary, before, here)) waiting.push(at + 1);
            break;
          case "jump":
            waiting.push(instruction.to);
            break;
          case "split":
            waiting.push(instruction.right, instruction.left);
            break;
          case "match":
            spend?.(steps);
            return true;
        }
      }
      if (steps >= STEPS_PER_REPORT) {
        spend?.(steps);
        steps = 0;
      }
      if (here < 0 || (isAnchored && next.length === 0)) {
        spend?.(steps);
        return false;
      }
      [waiting, next] = [next, waiting];
      before = here;
      position += here > 0xffff ? 2 : 1;
    }
  };
}

function holds(boundary: Boundary, before: number, here: number): boolean {
  switch (boundary) {
    case "start":
      return before < 0;
    case "end":
      return here < 0;
    case "word":
      return isWordPart(before) !== isWordPart(here);
    case "inside":
      return isWordPart(before) === isWordPart(here);
  }
}

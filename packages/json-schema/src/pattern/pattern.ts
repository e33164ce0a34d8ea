import { JsonSchemaError } from "../error.ts";
import { BOUNDARIES, BOUNDARY, JUMP, MATCH, search, SET, SPLIT } from "./search.ts";
import type { PatternMemory, Program, Spend } from "./search.ts";
import type { CodePointSet } from "./code-point-set.ts";
import { parsePattern } from "./syntax.ts";
import type { Boundary, PatternTree } from "./syntax.ts";

export type { Spend } from "./search.ts";

/** A regular expression that is matched in linear time. */
export interface Pattern {
  readonly source: string;
  /** Its instructions. A test takes at most this many steps for each character of the text. */
  readonly size: number;
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean;
}

/** A pattern whose work is counted. */
export interface MeteredPattern extends Pattern {
  /** `spend` is told how much work was done. Many searches are faster with a shared memory. */
  test(text: string, spend?: Spend, memory?: PatternMemory): boolean;
}

const MAX_INSTRUCTIONS = 10_000;

type Instruction =
  | { op: "set"; set: CodePointSet }
  | { op: "boundary"; boundary: Boundary }
  | { op: "jump"; to: number }
  | { op: "split"; left: number; right: number }
  | { op: "match" };

/**
 * Compiles a regular expression of ECMA-262 (with the `u` flag) that is matched in linear time, like
 * those of RE2: the states of the pattern move through the text together, so the work is at most
 * text × pattern, whatever they are. Backreferences and lookaround are refused.
 *
 * @example
 * ```ts
 * compilePattern("^(a+)+$").test("a".repeat(100_000) + "!"); // false, at once
 * ```
 */
export function compilePattern(source: string): Pattern {
  return compileMetered(source);
}

/** Compiles a pattern for a check whose steps are limited. */
export function compileMetered(source: string): MeteredPattern {
  const tree = parsePattern(source);
  const size = sizeOf(tree) + 1;
  if (size > MAX_INSTRUCTIONS) {
    throw new JsonSchemaError(
      "limit",
      `the pattern expands to more than ${MAX_INSTRUCTIONS} instructions; lower its repetition bounds`,
    );
  }
  const program: Instruction[] = [];
  emit(tree, program);
  program.push({ op: "match" });

  const assembled = assemble(program, startsAtStart(tree));
  return {
    source,
    size: program.length,
    test: (text, spend, memory) => search(assembled, text, spend, memory),
  };
}

function assemble(instructions: readonly Instruction[], isAnchored: boolean): Program {
  const { length } = instructions;
  const operations = new Uint8Array(length);
  const left = new Int32Array(length);
  const right = new Int32Array(length);
  const sets = new Map<CodePointSet, number>();
  let looksBack = false;
  for (const [at, instruction] of instructions.entries()) {
    switch (instruction.op) {
      case "set": {
        const known = sets.get(instruction.set) ?? sets.size;
        sets.set(instruction.set, known);
        operations[at] = SET;
        left[at] = known;
        break;
      }
      case "boundary":
        operations[at] = BOUNDARY;
        left[at] = BOUNDARIES.indexOf(instruction.boundary);
        looksBack ||= instruction.boundary === "word" || instruction.boundary === "inside";
        break;
      case "jump":
        operations[at] = JUMP;
        left[at] = instruction.to;
        break;
      case "split":
        operations[at] = SPLIT;
        left[at] = instruction.left;
        right[at] = instruction.right;
        break;
      case "match":
        operations[at] = MATCH;
    }
  }
  return { operations, left, right, sets: [...sets.keys()], ascii: [], isAnchored, looksBack };
}

/**
 * How many instructions a tree expands to. An empty group counts as one, or a million repetitions of it
 * would be free. The sum is capped just above the limit, because Infinity × 0 is NaN.
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

/** Whether a match can begin only at the start of the text, so that a search may end early. */
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

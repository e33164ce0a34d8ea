import { ASCII_END, isWordPart } from "./code-point-set.ts";
import type { CodePointSet } from "./code-point-set.ts";
import { STEPS } from "../costs.ts";

/** Receives the steps since its last call. It may throw to end a search. */
export type Spend = (steps: number) => void;

/** The operations of a compiled pattern. */
export const SET = 0;
export const BOUNDARY = 1;
export const JUMP = 2;
export const SPLIT = 3;
export const MATCH = 4;

export const BOUNDARIES = ["start", "end", "word", "inside"] as const;

/** A pattern as instructions, in parallel arrays because they are read for every character. */
export interface Program {
  readonly operations: Uint8Array;
  /** The number of the set or the boundary, or the next instruction. */
  readonly left: Int32Array;
  /** The other next instruction, of a split. */
  readonly right: Int32Array;
  readonly sets: readonly CodePointSet[];
  /** The ASCII table of each set, made at the first use. */
  readonly ascii: (Uint8Array | undefined)[];
  /** Whether a match can begin only at the start of the text. */
  readonly isAnchored: boolean;
  /** Whether a boundary depends on the previous character. */
  readonly looksBack: boolean;
}

const STEPS_PER_REPORT = 4_096;
const FOUND = -1;

/** From this length on, remembering states pays even for a single text. */
const LONG = 64;
/** A pattern with more threads or states hardly ever reaches the same state again. */
const THREADS_AT_MOST = 256;
const STATES_AT_MOST = 256;
/** The number of states that all patterns of one check may remember together. */
const ALL_STATES_AT_MOST = 2_048;
const ALL_TRANSITIONS_AT_MOST = 32_768;
/** A character with a remembered transition costs a fraction of a step. */
const EIGHTHS_PER_CHARACTER = 5;
const EIGHTHS_PER_OTHER = 14;
const CHARACTERS_AT_ONCE = 4_096;
/** The cost of looking up a state, or of making it. */
const STATE_STEPS = 20;

// Shared by all searches: only one runs at a time.
const LAST_ROUND = 2 ** 31 - 1;
let seen = new Int32Array(0);
let stack = new Int32Array(0);
let threads = new Int32Array(0);
let nextThreads = new Int32Array(0);
let round = 0;
let steps = 0;

function makeRoom(size: number): void {
  if (seen.length >= size) return;
  const length = Math.max(1_024, 2 * size);
  seen = new Int32Array(length);
  round = 0;
  stack = new Int32Array(2 * length + 2);
  threads = new Int32Array(length + 1);
  nextThreads = new Int32Array(length + 1);
}

/** The states that the searches of one check have reached, for the searches after them. */
export class PatternMemory {
  /** Undefined for a pattern that was used once, because many are never used again. */
  readonly #automata = new Map<Program, Automaton | undefined>();
  #states = 0;
  #transitions = 0;

  get isFull(): boolean {
    return this.#states >= ALL_STATES_AT_MOST || this.#transitions >= ALL_TRANSITIONS_AT_MOST;
  }

  automatonFor(program: Program, text: string): Automaton | undefined {
    const known = this.#automata.get(program);
    if (known !== undefined) return known;
    if (this.isFull) return undefined;
    const isWorthIt = text.length >= LONG || this.#automata.has(program);
    const made = isWorthIt ? automatonOf(program) : undefined;
    this.#automata.set(program, made);
    return made;
  }

  note(isNewState: boolean): void {
    this.#transitions += 1;
    if (isNewState) this.#states += 1;
  }
}

/** Whether a pattern matches anywhere in a text. */
export function search(
  program: Program,
  text: string,
  spend: Spend | undefined,
  memory: PatternMemory = new PatternMemory(),
): boolean {
  makeRoom(program.operations.length);
  steps = STEPS.search;
  const automaton = memory.automatonFor(program, text);
  if (automaton?.isUseful === true) {
    return searchRemembering(program, text, spend, automaton, memory);
  }
  threads[0] = 0;
  return searchOn(program, text, spend, 0, -1, program.isAnchored ? 1 : 0);
}

/** Continues at a position with the first `count` of the threads. */
function searchOn(
  program: Program,
  text: string,
  spend: Spend | undefined,
  from: number,
  last: number,
  count: number,
): boolean {
  let position = from;
  let before = last;
  for (;;) {
    const here = text.codePointAt(position) ?? -1;
    const next = advance(program, count, before, here);
    if (next === FOUND || here < 0 || (program.isAnchored && next === 0)) {
      spend?.(steps);
      return next === FOUND;
    }
    if (steps >= STEPS_PER_REPORT) {
      spend?.(steps);
      steps = 0;
    }
    [threads, nextThreads] = [nextThreads, threads];
    count = next;
    before = here;
    position += here > 0xffff ? 2 : 1;
  }
}

/**
 * Moves all threads over one character, into `nextThreads`. Returns their number, or FOUND. A search
 * that is not anchored starts a new thread at each position.
 */
function advance(program: Program, count: number, before: number, here: number): number {
  const { operations, left, right, sets, ascii, isAnchored } = program;
  const [marks, waiting, from, to] = [seen, stack, threads, nextThreads];
  if (round === LAST_ROUND) {
    marks.fill(0);
    round = 0;
  }
  const mark = ++round;
  let next = 0;
  let work = 1;
  for (let index = isAnchored ? 0 : -1; index < count; index += 1) {
    let height = 1;
    waiting[0] = index < 0 ? 0 : from[index]!;
    while (height > 0) {
      const at = waiting[--height]!;
      if (marks[at] === mark) continue;
      marks[at] = mark;
      work += 1;
      switch (operations[at]) {
        case SET: {
          const number = left[at]!;
          if (here >= ASCII_END) {
            const set = sets[number]!;
            work += set.cost;
            if (set.has(here)) to[next++] = at + 1;
          } else if (here >= 0) {
            const table = (ascii[number] ??= sets[number]!.ascii());
            if (table[here] === 1) to[next++] = at + 1;
          }
          break;
        }
        case BOUNDARY:
          if (holds(left[at]!, before, here)) waiting[height++] = at + 1;
          break;
        case JUMP:
          waiting[height++] = left[at]!;
          break;
        case SPLIT:
          waiting[height++] = right[at]!;
          waiting[height++] = left[at]!;
          break;
        default:
          steps += work;
          return FOUND;
      }
    }
  }
  steps += work;
  return next;
}

function holds(boundary: number, before: number, here: number): boolean {
  switch (BOUNDARIES[boundary]) {
    case "start":
      return before < 0;
    case "end":
      return here < 0;
    case "word":
      return isWordPart(before) !== isWordPart(here);
    default:
      return isWordPart(before) === isWordPart(here);
  }
}

/** A set of threads, and the states that characters lead to from it. */
interface State {
  readonly threads: Int32Array;
  /** A character of the same kind as the previous one. */
  readonly before: number;
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
}

function stateOf(held: Int32Array, before: number): State {
  return { threads: held, before, ascii: [], others: new Map() };
}

/** The final states: the pattern has matched, or no thread is left that could match. */
const MATCHED: State = stateOf(new Int32Array(0), -1);
const DEAD: State = stateOf(new Int32Array(0), -1);

const A_WORD_PART = 0x61;
const NO_WORD_PART = 0x20;

/** What is remembered about one pattern: a deterministic automaton, built as far as it is needed. */
interface Automaton {
  readonly start: State;
  readonly states: Map<string, State>;
  isUseful: boolean;
}

function automatonOf({ isAnchored }: Program): Automaton {
  const start = stateOf(new Int32Array(isAnchored ? 1 : 0), -1);
  return { start, states: new Map(), isUseful: true };
}

/** The same search with remembered transitions, as long as they help. */
function searchRemembering(
  program: Program,
  text: string,
  spend: Spend | undefined,
  automaton: Automaton,
  memory: PatternMemory,
): boolean {
  let state = automaton.start;
  let position = 0;
  // In eighths of a step, because integers are faster than fractions.
  let walked = 0;
  for (;;) {
    if (steps + (walked >> 3) >= STEPS_PER_REPORT) {
      spend?.(steps + (walked >> 3));
      steps = 0;
      walked = 0;
    }
    const end = Math.min(text.length, position + CHARACTERS_AT_ONCE);
    let here = -1;
    let next: State | undefined;
    while (position < end) {
      here = text.charCodeAt(position);
      if (here < ASCII_END) {
        walked += EIGHTHS_PER_CHARACTER;
        next = state.ascii[here];
      } else {
        here = text.codePointAt(position)!;
        walked += EIGHTHS_PER_OTHER;
        next = state.others.get(here);
      }
      if (next === undefined) break;
      state = next;
      position += here > 0xffff ? 2 : 1;
    }
    if (state === MATCHED || state === DEAD) {
      spend?.(steps + (walked >> 3));
      return state === MATCHED;
    }
    if (next !== undefined && position < text.length) continue;
    steps += walked >> 3;
    walked = 0;
    threads.set(state.threads);
    if (position >= text.length) {
      const isFound = advance(program, state.threads.length, state.before, -1) === FOUND;
      spend?.(steps);
      return isFound;
    }
    const led = advance(program, state.threads.length, state.before, here);
    next = learn(program, automaton, memory, led, here);
    if (next === undefined) {
      [threads, nextThreads] = [nextThreads, threads];
      return searchOn(program, text, spend, position + (here > 0xffff ? 2 : 1), here, led);
    }
    if (here < ASCII_END) state.ascii[here] = next;
    else state.others.set(here, next);
    state = next;
    position += here > 0xffff ? 2 : 1;
  }
}

/** The state of the threads after a character; undefined if it is not remembered. */
function learn(
  program: Program,
  automaton: Automaton,
  memory: PatternMemory,
  led: number,
  here: number,
): State | undefined {
  if (led === FOUND) return MATCHED;
  if (led === 0 && program.isAnchored) return DEAD;
  const { states } = automaton;
  if (led > THREADS_AT_MOST || states.size >= STATES_AT_MOST) automaton.isUseful = false;
  if (memory.isFull || !automaton.isUseful) return undefined;
  const before = program.looksBack && isWordPart(here) ? A_WORD_PART : NO_WORD_PART;
  const held = nextThreads.slice(0, led);
  const key = `${before === A_WORD_PART}${String.fromCharCode.apply(null, held as never)}`;
  steps += STATE_STEPS + led;
  let state = states.get(key);
  memory.note(state === undefined);
  if (state === undefined) states.set(key, (state = stateOf(held, before)));
  return state;
}

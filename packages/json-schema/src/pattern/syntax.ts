import { JsonSchemaError } from "../error.ts";
import {
  ASCII_END,
  complement,
  codePointSet,
  DIGITS,
  LINE_ENDS,
  SPACES,
  unicodeProperty,
  WORD,
} from "./code-point-set.ts";
import type { CodePointSet, Range, SetSource } from "./code-point-set.ts";

export type Boundary = "start" | "end" | "word" | "inside";

/** A pattern as a tree. `max` is Infinity for an unbounded repetition. */
export type PatternTree =
  | { kind: "set"; set: CodePointSet }
  | { kind: "boundary"; boundary: Boundary }
  | { kind: "sequence"; parts: PatternTree[] }
  | { kind: "choice"; options: PatternTree[] }
  | { kind: "repeat"; body: PatternTree; min: number; max: number };

const PATTERN_LIMITS = { characters: 4_096, repetitions: 1_000, groups: 200 } as const;

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACES,
  S: complement(SPACES),
};

/** Groups that can not be matched in linear time, or that ECMA-262 does not have. */
const REFUSED_GROUPS: readonly (readonly [opening: string, reason: string])[] = [
  [
    "?<=",
    "lookbehind can't be matched in linear time; state what may come instead of what came before",
  ],
  [
    "?<!",
    "lookbehind can't be matched in linear time; state what may come instead of what came before",
  ],
  [
    "?=",
    "lookahead can't be matched in linear time; split the pattern and join the parts with allOf",
  ],
  ["?!", "lookahead can't be matched in linear time; say it with a second pattern under not"],
  ["?P<", "(?P<name>…) isn't ECMA-262; write (?<name>…)"],
];

type Atom = { codePoint: number } | { class: SetSource };

/** Parses a pattern of ECMA-262 with the `u` flag. Constructs that need backtracking are refused. */
export function parsePattern(source: string): PatternTree {
  if (source.length > PATTERN_LIMITS.characters) {
    throw new JsonSchemaError(
      "limit",
      `the pattern has ${source.length} characters; at most ${PATTERN_LIMITS.characters} are allowed`,
    );
  }
  return new PatternParser(source).parse();
}

class PatternParser {
  readonly #source: string;
  #position = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): PatternTree {
    const tree = this.#choice();
    if (this.#position < this.#source.length) this.#refuse("a ) closes no group");
    return tree;
  }

  #refuse(reason: string): never {
    const shown = this.#source.length > 80 ? `${this.#source.slice(0, 80)}…` : this.#source;
    throw new JsonSchemaError(
      "invalid",
      `the pattern ${JSON.stringify(shown)} is refused at character ${this.#position + 1}: ${reason}`,
    );
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#position)) return false;
    this.#position += text.length;
    return true;
  }

  /** Consumes the next code point; -1 at the end. */
  #next(): number {
    const codePoint = this.#source.codePointAt(this.#position) ?? -1;
    this.#position += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  /** Consumes what a (trusted) regular expression matches at the position. */
  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#position;
    const found = expression.exec(this.#source);
    if (found !== null) this.#position = expression.lastIndex;
    return found;
  }

  #choice(): PatternTree {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  #sequence(): PatternTree {
    const parts: PatternTree[] = [];
    while (this.#position < this.#source.length && !"|)".includes(this.#source[this.#position]!)) {
      parts.push(this.#quantified(this.#term()));
    }
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }

  #term(): PatternTree {
    if (this.#take("(")) return this.#group();
    if (this.#take("^")) return { kind: "boundary", boundary: "start" };
    if (this.#take("$")) return { kind: "boundary", boundary: "end" };
    if (this.#take("\\b")) return { kind: "boundary", boundary: "word" };
    if (this.#take("\\B")) return { kind: "boundary", boundary: "inside" };
    if (this.#take(".")) return treeOfAnyButLineEnds();
    if (this.#take("[")) return setOf(this.#class());
    if ("*+?".includes(this.#source[this.#position]!)) this.#refuse("there is nothing to repeat");
    if ("{}]".includes(this.#source[this.#position]!)) {
      this.#refuse(
        `${this.#source[this.#position]} needs an escape; write \\${this.#source[this.#position]} for the character`,
      );
    }
    return treeOf(this.#take("\\") ? this.#escape(false) : { codePoint: this.#next() });
  }

  #group(): PatternTree {
    for (const [opening, reason] of REFUSED_GROUPS) if (this.#take(opening)) this.#refuse(reason);
    if (!this.#take("?:") && this.#take("?")) {
      if (this.#match(/<[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*>/uy) === null) {
        this.#refuse(
          "a group opens with (, (?: or (?<name>; flags inside a pattern aren't supported",
        );
      }
    }
    this.#depth += 1;
    if (this.#depth > PATTERN_LIMITS.groups) {
      throw new JsonSchemaError(
        "limit",
        `the pattern nests more than ${PATTERN_LIMITS.groups} groups`,
      );
    }
    const body = this.#choice();
    this.#depth -= 1;
    if (!this.#take(")")) this.#refuse("a group isn't closed");
    // A boundary may be repeated in a group, but not by itself.
    return { kind: "sequence", parts: [body] };
  }

  #quantified(body: PatternTree): PatternTree {
    const found = this.#match(/[*+?]|\{(\d+)(?:(,)(\d*))?\}/y);
    if (found === null) return body;
    if (body.kind === "boundary") this.#refuse("a boundary can't be repeated");
    // Whether a pattern matches does not depend on a repetition being lazy.
    this.#take("?");
    const [sign, least, comma, most] = found;
    const min = least === undefined ? (sign === "+" ? 1 : 0) : Number(least);
    const max =
      least === undefined
        ? sign === "?"
          ? 1
          : Infinity
        : comma === undefined
          ? min
          : upperBound(most);
    if (min > max) this.#refuse(`the repetition ${sign} ends before it starts`);
    if (
      min > PATTERN_LIMITS.repetitions ||
      (max !== Infinity && max > PATTERN_LIMITS.repetitions)
    ) {
      throw new JsonSchemaError(
        "limit",
        `the pattern repeats more than ${PATTERN_LIMITS.repetitions} times: ${sign.slice(0, 40)}`,
      );
    }
    return { kind: "repeat", body, min, max };
  }

  #class(): SetSource {
    const set: GrowingSet = { ranges: [], properties: [], negated: this.#take("^") };
    while (!this.#take("]")) {
      const from = this.#classAtom();
      const isRange =
        this.#source[this.#position] === "-" && this.#source[this.#position + 1] !== "]";
      if (!isRange) {
        addAtom(set, from);
        continue;
      }
      this.#position += 1;
      const to = this.#classAtom();
      if (!("codePoint" in from) || !("codePoint" in to))
        this.#refuse("a range needs a character at each end");
      if (from.codePoint > to.codePoint) this.#refuse("a range ends before it starts");
      set.ranges.push([from.codePoint, to.codePoint]);
    }
    return set;
  }

  #classAtom(): Atom {
    if (this.#position >= this.#source.length) this.#refuse("a [ isn't closed");
    return this.#take("\\") ? this.#escape(true) : { codePoint: this.#next() };
  }

  #escape(isInClass: boolean): Atom {
    const codePoint = this.#next();
    const letter = codePoint < 0 ? "" : String.fromCodePoint(codePoint);
    if (Object.hasOwn(CLASSES, letter))
      return { class: { ranges: CLASSES[letter]!, properties: [], negated: false } };
    if (Object.hasOwn(CONTROLS, letter)) return { codePoint: CONTROLS[letter]! };
    if (letter === "p" || letter === "P") return this.#property(letter === "P");
    if (letter === "b" && isInClass) return { codePoint: 8 };
    if (letter === "0" && this.#match(/\d/y) === null) return { codePoint: 0 };
    if (letter === "x" || letter === "u" || letter === "c")
      return { codePoint: this.#numbered(letter) };
    if (/[1-9k]/.test(letter)) this.#refuse("backreferences can't be matched in linear time");
    if (letter === "A" || letter === "Z" || letter === "z") {
      this.#refuse(`\\${letter} isn't ECMA-262; write ^ for the start and $ for the end`);
    }
    // Wider than ECMA-262: \- or \@ is the literal character everywhere, as in most other dialects.
    if (!/[!-/:-@[-^`{-~ ]/.test(letter)) this.#refuse(`\\${letter} has no meaning`);
    return { codePoint };
  }

  #property(negated: boolean): Atom {
    const name = this.#match(/\{([\w=]*)\}/y)?.[1] ?? "";
    if (unicodeProperty(name) === undefined) {
      this.#refuse(
        `there is no Unicode property ${JSON.stringify(name)}; \\p{L} or \\p{Script=Greek} are examples`,
      );
    }
    return { class: { ranges: [], properties: [{ name, negated }], negated: false } };
  }

  #numbered(letter: "x" | "u" | "c"): number {
    if (letter === "c") {
      const control = this.#match(/[A-Za-z]/y);
      return control === null ? this.#refuse("\\c needs a letter") : control[0].charCodeAt(0) % 32;
    }
    const pair =
      letter === "u"
        ? this.#match(/([Dd][89ABab][\dA-Fa-f]{2})\\u([Dd][C-Fc-f][\dA-Fa-f]{2})/y)
        : null;
    if (pair !== null) {
      return (
        0x10000 +
        (Number.parseInt(pair[1]!, 16) - 0xd800) * 0x400 +
        Number.parseInt(pair[2]!, 16) -
        0xdc00
      );
    }
    const found = this.#match(
      letter === "x" ? /([\dA-Fa-f]{2})/y : /([\dA-Fa-f]{4})|\{([\dA-Fa-f]+)\}/y,
    );
    const codePoint = Number.parseInt(found?.[1] ?? found?.[2] ?? "", 16);
    if (!(codePoint <= 0x10ffff))
      this.#refuse(`\\${letter} needs a code point, such as \\x41 or \\u{1F600}`);
    return codePoint;
  }
}

/** A bound of 400 digits reads as Infinity, which would be no bound at all. */
function upperBound(digits: string | undefined): number {
  return digits === undefined || digits === ""
    ? Infinity
    : Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

function setOf(source: SetSource): PatternTree {
  return { kind: "set", set: codePointSet(source) };
}

// Shared: a hostile pattern has tens of thousands of places, most of which accept the same sets.
const asciiTrees: PatternTree[] = [];
const classTrees = new Map<readonly Range[], PatternTree>();

function treeOf(atom: Atom): PatternTree {
  if ("codePoint" in atom) {
    const { codePoint } = atom;
    return codePoint < ASCII_END
      ? (asciiTrees[codePoint] ??= treeOfOne(codePoint))
      : treeOfOne(codePoint);
  }
  if (atom.class.properties.length > 0) return setOf(atom.class);
  // Classes such as \d always have the same ranges.
  const { ranges } = atom.class;
  let tree = classTrees.get(ranges);
  if (tree === undefined) classTrees.set(ranges, (tree = setOf(atom.class)));
  return tree;
}

function treeOfOne(codePoint: number): PatternTree {
  return setOf({ ranges: [[codePoint, codePoint]], properties: [], negated: false });
}

function treeOfAnyButLineEnds(): PatternTree {
  return (anyButLineEnds ??= setOf({ ranges: LINE_ENDS, properties: [], negated: true }));
}

let anyButLineEnds: PatternTree | undefined;

interface GrowingSet extends SetSource {
  readonly ranges: Range[];
  readonly properties: { name: string; negated: boolean }[];
}

function addAtom(set: GrowingSet, atom: Atom): void {
  if ("codePoint" in atom) set.ranges.push([atom.codePoint, atom.codePoint]);
  else {
    set.ranges.push(...atom.class.ranges);
    set.properties.push(...atom.class.properties);
  }
}

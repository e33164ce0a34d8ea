import { WaybillError } from "../error.ts";
import type { Spend } from "./pattern.ts";
import { pointerTo } from "./schema-values.ts";

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** Where in the value, as a JSON Pointer. */
  at: string;
  /** The keyword of the schema that is broken. */
  keyword: string;
  /** What was expected there and what was found. */
  message: string;
}

/** Tests one value at one place; `seen` collects what was looked at, where somebody asks. */
export type Rule = (value: unknown, at: string, run: Run, seen: Seen | undefined) => boolean;

/** One schema, compiled. A schema is a list of rules, all of which a value must pass. */
export interface SchemaNode {
  /** Where in the document, as a JSON Pointer. */
  readonly at: string;
  readonly rules: Rule[];
  /** The rule of unevaluatedProperties and unevaluatedItems: it goes by what all others have seen. */
  leftover: Rule | undefined;
  /** Schemas that apply to the same value as this one does. */
  readonly inPlace: SchemaNode[];
  /** Several places lead here, so verdicts are remembered: without that, work doubles at each step. */
  isShared: boolean;
  /** What tells at a glance that a value is not meant for this schema, and where it leads. */
  sketch: Sketch;
}

/** Picks, among alternatives that all fail, the one that was meant and deserves to be explained. */
export interface Sketch {
  types?: ReadonlySet<string>;
  /** Members that may have certain values only: `kind` in a union of kinds. */
  tags: readonly (readonly [name: string, allowed: ReadonlySet<unknown>])[];
  target?: () => SchemaNode;
}

/** Members and items that some schema has looked at: what `unevaluated…` keywords leave alone. */
export class Seen {
  readonly #keys = new Set<string | number>();
  #allBelow = 0;
  #all = false;

  add(key: string | number): void {
    this.#keys.add(key);
  }

  addItemsBelow(end: number): void {
    this.#allBelow = Math.max(this.#allBelow, end);
  }

  addAll(): void {
    this.#all = true;
  }

  has(key: string | number): boolean {
    return this.#all || this.#keys.has(key) || (typeof key === "number" && key < this.#allBelow);
  }

  merge(other: Seen, spend: Spend): void {
    spend(other.#keys.size);
    this.#all ||= other.#all;
    this.addItemsBelow(other.#allBelow);
    for (const key of other.#keys) this.#keys.add(key);
  }
}

const NODE_STEPS = 10;
/** Nested evaluations: four frames each, so that the stack of any platform holds them. */
const MAX_NESTING = 512;
const MAX_REMEMBERED = 100_000;

/** One check of one value: what it may still cost, what is known already, what was found. */
export class Run {
  /** Counts work. Throws once the check has cost more than it may. */
  readonly spend: Spend;
  readonly #steps: number;
  #left: number;
  #nesting = 0;
  #remembered = 0;
  readonly #verdicts = new Map<SchemaNode, Map<unknown, boolean>>();
  #issues: SchemaIssue[] | undefined;
  readonly #maxIssues: number;

  constructor(steps: number, maxIssues: number) {
    this.#steps = steps;
    this.#left = steps;
    this.#maxIssues = maxIssues;
    this.spend = (count) => {
      this.#left -= count;
      if (this.#left < 0) {
        throw new WaybillError(
          413,
          `the schema is too costly: judging this value takes more than ${steps} steps; use fewer alternatives, simpler patterns or a smaller value`,
        );
      }
    };
  }

  /** Whether reasons are wanted, or the verdict only. */
  get isExplaining(): boolean {
    return this.#issues !== undefined;
  }

  get isFull(): boolean {
    return this.#issues !== undefined && this.#issues.length >= this.#maxIssues;
  }

  /** From here on reasons are collected, on an allowance of their own. */
  explainInto(issues: SchemaIssue[]): void {
    this.#issues = issues;
    this.#nesting = 0;
    this.#left = this.#steps;
  }

  /** Does something without reasons: an alternative that doesn't fit is no fault. */
  quietly(look: () => boolean): boolean {
    const issues = this.#issues;
    this.#issues = undefined;
    const fits = look();
    this.#issues = issues;
    return fits;
  }

  fail(at: string, keyword: string, message: () => string): false {
    if (this.#issues === undefined || this.isFull) return false;
    const issue = { at, keyword, message: message() };
    const isKnown = this.#issues.some(
      (known) => known.at === at && known.keyword === keyword && known.message === issue.message,
    );
    if (!isKnown) this.#issues.push(issue);
    return false;
  }

  /** The place of a member or an item; nobody asks for it unless reasons are wanted. */
  below(at: string, key: string | number): string {
    return this.isExplaining ? pointerTo(at, key) : at;
  }

  enter(): void {
    this.spend(NODE_STEPS);
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) {
      throw new WaybillError(
        413,
        `the value and its schema are nested more than ${MAX_NESTING} levels deep together`,
      );
    }
  }

  leave(): void {
    this.#nesting -= 1;
  }

  recall(node: SchemaNode, value: unknown): boolean | undefined {
    return this.#verdicts.get(node)?.get(value);
  }

  remember(node: SchemaNode, value: unknown, fits: boolean): void {
    if (this.#remembered >= MAX_REMEMBERED) return;
    this.#remembered += 1;
    const known = this.#verdicts.get(node);
    if (known === undefined) this.#verdicts.set(node, new Map([[value, fits]]));
    else known.set(value, fits);
  }
}

/** Whether a value fits a schema; reasons go to the run, if it wants them. */
export function evaluate(
  node: SchemaNode,
  value: unknown,
  at: string,
  run: Run,
  seen: Seen | undefined,
): boolean {
  run.enter();
  const fits =
    node.isShared && seen === undefined
      ? applyRemembered(node, value, at, run)
      : applyRules(node, value, at, run, seen);
  run.leave();
  return fits;
}

function applyRemembered(node: SchemaNode, value: unknown, at: string, run: Run): boolean {
  let fits = run.recall(node, value);
  if (fits === undefined) {
    fits = run.quietly(() => applyRules(node, value, at, run, undefined));
    run.remember(node, value, fits);
  }
  if (!fits && run.isExplaining) applyRules(node, value, at, run, undefined);
  return fits;
}

function applyRules(
  node: SchemaNode,
  value: unknown,
  at: string,
  run: Run,
  seen: Seen | undefined,
): boolean {
  const own = node.leftover === undefined ? seen : new Seen();
  let fits = true;
  for (const rule of node.rules) {
    if (rule(value, at, run, own)) continue;
    fits = false;
    if (!run.isExplaining || run.isFull) return false;
  }
  if (!fits || node.leftover === undefined || own === undefined) return fits;
  fits = node.leftover(value, at, run, own);
  if (fits) seen?.merge(own, run.spend);
  return fits;
}

import { JsonSchemaError } from "./error.ts";
import type { Spend } from "./pattern/pattern.ts";
import { PatternMemory } from "./pattern/search.ts";
import { costOfText, STEPS } from "./costs.ts";
import { pointerTo } from "./json-values.ts";

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** Where in the value, as a JSON Pointer; one that is too long to show ends with an ellipsis. */
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
  /** Whether schemas apply to parts of the value, and more than one may to the same part. */
  parts: "none" | "apart" | "overlapping";
  /** Several ways may lead here with one value, so verdicts are remembered, or work would double at each step. */
  isShared: boolean;
  /** What tells at a glance that a value is not meant for this schema, and where it leads. */
  sketch: Sketch;
}

/** Picks, among alternatives that all fail, the one that was meant and deserves to be explained. */
export interface Sketch {
  types?: ReadonlySet<string>;
  /** Members that may have certain values only: `kind` in a union of kinds. */
  tags: readonly (readonly [name: string, isAllowed: (value: unknown, run: Run) => boolean])[];
  target?: () => SchemaNode;
}

/** Members and items that some schema has looked at: what `unevaluated…` keywords leave alone. */
export class Seen {
  readonly #keys = new Set<string | number>();
  readonly #spend: Spend;
  #allBelow = 0;
  #all = false;

  constructor(spend: Spend) {
    this.#spend = spend;
  }

  add(key: string | number): void {
    this.#spend(STEPS.seen);
    this.#keys.add(key);
  }

  addItemsBelow(end: number): void {
    this.#allBelow = Math.max(this.#allBelow, end);
  }

  addAll(): void {
    this.#all = true;
  }

  has(key: string | number): boolean {
    this.#spend(STEPS.lookup);
    return this.#all || (typeof key === "number" && key < this.#allBelow) || this.#keys.has(key);
  }

  merge(other: Seen): void {
    this.#all ||= other.#all;
    this.addItemsBelow(other.#allBelow);
    for (const key of other.#keys) this.add(key);
  }
}

/** Nested evaluations: four frames each, so that the stack of any platform holds them. */
const MAX_NESTING = 512;
const MAX_REMEMBERED = 100_000;

/** One check of one value: what it may still cost, what is known already, what was found. */
export class Run {
  /** Counts work. Throws once the check has cost more than it may. */
  readonly spend: Spend;
  readonly patterns: PatternMemory = new PatternMemory();
  readonly #steps: number;
  #left: number;
  #nesting = 0;
  #tries = 0;
  #remembered = 0;
  /** Up to where the parts of a value are known to fit, by the rule that has asked them. */
  readonly #faults = new Map<object, Map<object, number>>();
  readonly #verdicts = new Map<SchemaNode, Map<unknown, boolean>>();
  #issues: SchemaIssue[] | undefined;
  readonly #maxIssues: number;

  constructor(steps: number, maxIssues: number, refuse: () => JsonSchemaError) {
    this.#steps = steps;
    this.#left = steps;
    this.#maxIssues = maxIssues;
    this.spend = (count) => {
      this.#left -= count;
      if (this.#left < 0) throw refuse();
    };
  }

  /** What it has cost so far, and never more than it may. */
  get spent(): number {
    return this.#steps - Math.max(0, this.#left);
  }

  /** Whether reasons are wanted, or the verdict only. */
  get isExplaining(): boolean {
    return this.#issues !== undefined;
  }

  get isFull(): boolean {
    return this.#issues !== undefined && this.#issues.length >= this.#maxIssues;
  }

  /** From here on reasons are collected, with what the verdict has left over. */
  explainInto(issues: SchemaIssue[]): void {
    this.#issues = issues;
    this.#nesting = 0;
    this.#tries = 0;
  }

  /** Does something without reasons: an alternative that doesn't fit is no fault. */
  quietly(look: () => boolean): boolean {
    this.spend(STEPS.tried);
    const issues = this.#issues;
    this.#issues = undefined;
    this.#tries += 1;
    const fits = look();
    this.#tries -= 1;
    this.#issues = issues;
    return fits;
  }

  /** The verdict fails at this part of the value: the reasons need not be looked for before it. */
  noteFault(rule: object, value: object, part: number): void {
    if (this.isExplaining || this.#tries > 0) return;
    const known = this.#faults.get(value);
    if (known === undefined) this.#faults.set(value, new Map([[rule, part]]));
    else known.set(rule, part);
  }

  /** From which part of a value on reasons may be found. */
  firstFault(rule: object, value: object): number {
    return this.isExplaining ? (this.#faults.get(value)?.get(rule) ?? 0) : 0;
  }

  fail(at: string, keyword: string, message: () => string): false {
    if (this.#issues === undefined || this.isFull) return false;
    this.spend(STEPS.reason);
    const issue = { at, keyword, message: message() };
    const isKnown = this.#issues.some(
      (known) => known.at === at && known.keyword === keyword && known.message === issue.message,
    );
    if (!isKnown) this.#issues.push(issue);
    return false;
  }

  /** The place of a member or an item; nobody asks for it unless reasons are wanted. */
  below(at: string, key: string | number): string {
    if (!this.isExplaining) return at;
    this.spend(STEPS.place + costOfText(at));
    return pointerTo(at, key);
  }

  enter(): void {
    this.spend(STEPS.node);
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) {
      throw new JsonSchemaError(
        "limit",
        `the value and its schema are nested more than ${MAX_NESTING} levels deep together`,
      );
    }
  }

  leave(): void {
    this.#nesting -= 1;
  }

  recall(node: SchemaNode, value: unknown): boolean | undefined {
    this.spend(STEPS.recalled);
    return this.#verdicts.get(node)?.get(value);
  }

  remember(node: SchemaNode, value: unknown, fits: boolean): void {
    if (this.#remembered >= MAX_REMEMBERED) return;
    this.spend(STEPS.remembered);
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
  const key = node.isShared && seen === undefined ? memoryKey(node, value, run) : undefined;
  const fits =
    key === undefined
      ? applyRules(node, value, at, run, seen)
      : applyRemembered(node, value, key, at, run);
  run.leave();
  return fits;
}

/**
 * Under what a verdict about a value is remembered, if at all. Numbers of a stranger's choice are never
 * keys of a hash table: those that fall into one bucket are easily found.
 */
function memoryKey(node: SchemaNode, value: unknown, run: Run): unknown {
  if (typeof value === "object" && value !== null) return value;
  // What has no schemas for the same value costs no more than a look into memory does.
  if (node.inPlace.length === 0) return undefined;
  if (typeof value === "string") {
    run.spend(costOfText(value));
    return `"${value}`;
  }
  return `${typeof value} ${String(value)}`;
}

function applyRemembered(
  node: SchemaNode,
  value: unknown,
  key: unknown,
  at: string,
  run: Run,
): boolean {
  let fits = run.recall(node, key);
  if (fits === undefined) {
    fits = run.quietly(() => applyRules(node, value, at, run, undefined));
    run.remember(node, key, fits);
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
  const own = node.leftover === undefined ? seen : new Seen(run.spend);
  let fits = true;
  for (const rule of node.rules) {
    run.spend(STEPS.rule);
    if (rule(value, at, run, own)) continue;
    fits = false;
    if (!run.isExplaining || run.isFull) return false;
  }
  if (!fits || node.leftover === undefined || own === undefined) return fits;
  fits = node.leftover(value, at, run, own);
  if (fits) seen?.merge(own);
  return fits;
}

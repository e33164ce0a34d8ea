import { JsonSchemaError } from "./error.ts";
import type { Spend } from "./pattern/pattern.ts";
import { PatternMemory } from "./pattern/search.ts";
import { costOfText, STEPS } from "./costs.ts";
import { pointerTo } from "./json-values.ts";

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** Where in the value, as a JSON Pointer. A pointer that is too long to show ends with an ellipsis. */
  at: string;
  /** The keyword that the value breaks. */
  keyword: string;
  /** What was expected there and what was found. */
  message: string;
}

/** Tests one value. `evaluated` collects the evaluated members and items, where a keyword needs them. */
export type Rule = (
  value: unknown,
  at: string,
  run: CheckRun,
  evaluated: EvaluatedParts | undefined,
) => boolean;

/** One compiled schema: a list of rules, all of which a value must pass. */
export interface SchemaNode {
  /** Where in the schema document, as a JSON Pointer. */
  readonly at: string;
  readonly rules: Rule[];
  /** The rule of unevaluatedProperties and unevaluatedItems, which depends on all others. */
  unevaluated: Rule | undefined;
  /** Schemas that apply to the same value as this one. */
  readonly inPlace: SchemaNode[];
  /** Whether schemas apply to members or items, and whether several may apply to the same one. */
  childSchemas: "none" | "disjoint" | "overlapping";
  /** Whether several references lead here. Then verdicts are remembered, or work could grow exponentially. */
  isShared: boolean;
  /** Tells cheaply that a value can not fit this schema. */
  hints: SchemaHints;
}

/** Picks the alternative that a value was meant for, when all of them fail. */
export interface SchemaHints {
  types?: ReadonlySet<string>;
  /** Members with constant values, such as `kind` in a discriminated union. */
  discriminators: readonly (readonly [
    name: string,
    isAllowed: (value: unknown, run: CheckRun) => boolean,
  ])[];
  target?: () => SchemaNode;
}

/** The members and items that schemas have evaluated, which the `unevaluated…` keywords skip. */
export class EvaluatedParts {
  readonly #keys = new Set<string | number>();
  readonly #spend: Spend;
  #allBelow = 0;
  #all = false;

  constructor(spend: Spend) {
    this.#spend = spend;
  }

  add(key: string | number): void {
    this.#spend(STEPS.evaluated);
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

  merge(other: EvaluatedParts): void {
    this.#all ||= other.#all;
    this.addItemsBelow(other.#allBelow);
    for (const key of other.#keys) this.add(key);
  }
}

/** Nested evaluations, of four stack frames each: the stack of every platform holds them. */
const MAX_NESTING = 512;
const MAX_REMEMBERED = 100_000;

/** The state of one check: the steps that are left, the verdicts so far, and the issues. */
export class CheckRun {
  /** Counts steps, and throws when the check has used more than it may. */
  readonly spend: Spend;
  readonly patterns: PatternMemory = new PatternMemory();
  readonly #steps: number;
  #left: number;
  #nesting = 0;
  #tries = 0;
  #remembered = 0;
  /** For each rule and value, the index of the first member or item that is not known to fit. */
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

  /** The steps so far, and never more than the check may use. */
  get spent(): number {
    return this.#steps - Math.max(0, this.#left);
  }

  /** Whether issues are collected, and not the verdict alone. */
  get isExplaining(): boolean {
    return this.#issues !== undefined;
  }

  get isFull(): boolean {
    return this.#issues !== undefined && this.#issues.length >= this.#maxIssues;
  }

  /** Starts to collect issues, with the steps that the verdict has left. */
  explainInto(issues: SchemaIssue[]): void {
    this.#issues = issues;
    this.#nesting = 0;
    this.#tries = 0;
  }

  /** Runs a check whose failure is no issue, such as that of an alternative. */
  withoutIssues(look: () => boolean): boolean {
    this.spend(STEPS.tried);
    const issues = this.#issues;
    this.#issues = undefined;
    this.#tries += 1;
    const fits = look();
    this.#tries -= 1;
    this.#issues = issues;
    return fits;
  }

  /** Notes the index at which a rule fails, so that collecting issues can start there. */
  noteFault(rule: object, value: object, part: number): void {
    if (this.isExplaining || this.#tries > 0) return;
    const known = this.#faults.get(value);
    if (known === undefined) this.#faults.set(value, new Map([[rule, part]]));
    else known.set(rule, part);
  }

  /** The index from which a rule may fail. */
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

  /** The place of a member or an item. It is made only while issues are collected. */
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

/** Whether a value fits a schema. Issues go to the run, if it collects them. */
export function evaluate(
  node: SchemaNode,
  value: unknown,
  at: string,
  run: CheckRun,
  evaluated: EvaluatedParts | undefined,
): boolean {
  run.enter();
  const key = node.isShared && evaluated === undefined ? memoryKey(node, value, run) : undefined;
  const fits =
    key === undefined
      ? applyRules(node, value, at, run, evaluated)
      : applyRemembered(node, value, key, at, run);
  run.leave();
  return fits;
}

/**
 * The key under which a verdict is remembered, or undefined. Numbers are never keys of a hash table: an
 * attacker easily finds numbers that all fall into one bucket.
 */
function memoryKey(node: SchemaNode, value: unknown, run: CheckRun): unknown {
  if (typeof value === "object" && value !== null) return value;
  // Without in-place schemas, checking costs no more than looking up a verdict.
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
  run: CheckRun,
): boolean {
  let fits = run.recall(node, key);
  if (fits === undefined) {
    fits = run.withoutIssues(() => applyRules(node, value, at, run, undefined));
    run.remember(node, key, fits);
  }
  if (!fits && run.isExplaining) applyRules(node, value, at, run, undefined);
  return fits;
}

function applyRules(
  node: SchemaNode,
  value: unknown,
  at: string,
  run: CheckRun,
  evaluated: EvaluatedParts | undefined,
): boolean {
  const own = node.unevaluated === undefined ? evaluated : new EvaluatedParts(run.spend);
  let fits = true;
  for (const rule of node.rules) {
    run.spend(STEPS.rule);
    if (rule(value, at, run, own)) continue;
    fits = false;
    if (!run.isExplaining || run.isFull) return false;
  }
  if (!fits || node.unevaluated === undefined || own === undefined) return fits;
  fits = node.unevaluated(value, at, run, own);
  if (fits) evaluated?.merge(own);
  return fits;
}

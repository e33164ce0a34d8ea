import { STEPS } from "./costs.ts";
import { readCount } from "./keyword-values.ts";
import { evaluate } from "./evaluate.ts";
import type { Rule, SchemaNode } from "./evaluate.ts";
import { schemaAt, schemaList, schemaMap } from "./compile-context.ts";
import type { CompileContext } from "./compile-context.ts";
import { isObject, memberNames, pointerTo, shortened } from "./json-values.ts";

export function propertyNames({ schema, at, below }: CompileContext): Rule | undefined {
  const node = schemaAt(schema, "propertyNames", at, below);
  if (node === undefined) return undefined;
  return (value, place, run) => {
    if (!isObject(value)) return true;
    let fits = true;
    for (const name of memberNames(value, run.spend)) {
      if (run.withoutIssues(() => evaluate(node, name, "", run, undefined))) continue;
      fits = run.fail(run.below(place, name), "propertyNames", () => {
        return "the schema does not allow a member of this name";
      });
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

export function members({ schema, at, below, pattern }: CompileContext): Rule | undefined {
  const named = new Map(schemaMap(schema, "properties", at, below));
  const matched = schemaMap(schema, "patternProperties", at, below).map(([source, node]) => ({
    pattern: pattern(source, pointerTo(pointerTo(at, "patternProperties"), source)),
    node,
  }));
  const others = schemaAt(schema, "additionalProperties", at, below);
  if (named.size === 0 && matched.length === 0 && others === undefined) return undefined;
  const allowsOthers = schema["additionalProperties"] !== false;

  const rule: Rule = (value, where, run, evaluated) => {
    if (!isObject(value)) return true;
    let fits = true;
    const ask = (node: SchemaNode, name: string): void => {
      if (!evaluate(node, value[name], run.below(where, name), run, undefined)) fits = false;
    };
    const names = memberNames(value, run.spend);
    for (let index = run.firstFault(rule, value); index < names.length; index += 1) {
      run.spend(STEPS.passed);
      const name = names[index]!;
      let isNamed = false;
      const own = named.get(name);
      if (own !== undefined) {
        isNamed = true;
        ask(own, name);
      }
      for (const each of matched) {
        if (!each.pattern.test(name, run.spend, run.patterns)) continue;
        isNamed = true;
        ask(each.node, name);
      }
      if (!isNamed && others !== undefined) {
        isNamed = true;
        if (allowsOthers) ask(others, name);
        else {
          fits = run.fail(run.below(where, name), "additionalProperties", () =>
            unknownMember(named),
          );
        }
      }
      if (isNamed) evaluated?.add(name);
      if (fits) continue;
      run.noteFault(rule, value, index);
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
  return rule;
}

function unknownMember(named: ReadonlyMap<string, unknown>): string {
  const known = [...named.keys()].slice(0, 10).map((name) => JSON.stringify(shortened(name)));
  const hint =
    known.length === 0 ? "" : `; known are ${known.join(", ")}${named.size > 10 ? ", …" : ""}`;
  return `this member isn't in the schema and no others are allowed${hint}`;
}

/** In draft-07, `items` as an array means prefixItems, and additionalItems means the remaining items. */
export function items({ schema, at, below }: CompileContext): Rule | undefined {
  const isOldForm = Array.isArray(schema["items"]) && schema["prefixItems"] === undefined;
  const firstKeyword = isOldForm ? "items" : "prefixItems";
  const restKeyword = isOldForm ? "additionalItems" : "items";
  const first = schemaList(schema, firstKeyword, at, below);
  const rest = schemaAt(schema, restKeyword, at, below);
  if (first.length === 0 && rest === undefined) return undefined;

  const rule: Rule = (value, place, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const end = rest === undefined ? Math.min(first.length, value.length) : value.length;
    evaluated?.addItemsBelow(end);
    let fits = true;
    for (let index = run.firstFault(rule, value); index < end; index += 1) {
      const node = first[index] ?? rest!;
      if (evaluate(node, value[index], run.below(place, index), run, undefined)) continue;
      fits = false;
      run.noteFault(rule, value, index);
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
  return rule;
}

export function contains({ schema, at, below }: CompileContext): Rule | undefined {
  const read = (keyword: string, otherwise: number): number =>
    schema[keyword] === undefined ? otherwise : readCount(schema[keyword], pointerTo(at, keyword));
  const min = read("minContains", 1);
  const max = read("maxContains", Infinity);
  const node = schemaAt(schema, "contains", at, below);
  if (node === undefined) return undefined;

  return (value, place, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    for (const [index, item] of value.entries()) {
      if (!run.withoutIssues(() => evaluate(node, item, "", run, undefined))) continue;
      found += 1;
      evaluated?.add(index);
      if (found >= min && max === Infinity && evaluated === undefined) return true;
    }
    if (found < min) {
      const keyword = schema["minContains"] === undefined ? "contains" : "minContains";
      return run.fail(
        place,
        keyword,
        () => `expected at least ${min} matching items, got ${found}`,
      );
    }
    return (
      found <= max ||
      run.fail(place, "maxContains", () => `expected at most ${max} matching items, got ${found}`)
    );
  };
}

/** The rule of unevaluatedProperties and unevaluatedItems. It runs after all other rules have passed. */
export function unevaluated({ schema, at, below }: CompileContext): Rule | undefined {
  const forMembers = schemaAt(schema, "unevaluatedProperties", at, below);
  const forItems = schemaAt(schema, "unevaluatedItems", at, below);
  if (forMembers === undefined && forItems === undefined) return undefined;
  return (value, place, run, evaluated) => {
    const isList = Array.isArray(value);
    const node = isList ? forItems : forMembers;
    if (node === undefined || (!isList && !isObject(value))) return true;
    const keyword = isList ? "unevaluatedItems" : "unevaluatedProperties";
    const keys: Iterable<string | number> = isList ? value.keys() : memberNames(value, run.spend);
    let fits = true;
    for (const key of keys) {
      if (evaluated?.has(key) === true) continue;
      const part = (value as Record<string | number, unknown>)[key];
      if (schema[keyword] === false) {
        fits = run.fail(
          run.below(place, key),
          keyword,
          () => "the schema does not define this, and allows nothing else",
        );
      } else if (!evaluate(node, part, run.below(place, key), run, undefined)) fits = false;
      if (!fits && (!run.isExplaining || run.isFull)) return false;
    }
    evaluated?.addAll();
    return fits;
  };
}

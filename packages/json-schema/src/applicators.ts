import { hasAll } from "./assertions.ts";
import { STEPS } from "./costs.ts";
import { contains, items, members, propertyNames } from "./child-applicators.ts";
import { readMap, readNames, readSchema, readText } from "./keyword-values.ts";
import { evaluate, Seen } from "./evaluate.ts";
import type { Rule, Run, SchemaNode } from "./evaluate.ts";
import { list, many, one } from "./compile-context.ts";
import type { Scope } from "./compile-context.ts";
import { explainUnion, isMeantFor } from "./alternatives.ts";
import { hasMember, isObject, pointerTo } from "./json-values.ts";

type Applicator = (scope: Scope) => Rule | undefined;

/** Keywords that apply other schemas; those that belong together make one rule. */
export const APPLICATORS: readonly Applicator[] = [
  propertyNames,
  members,
  items,
  contains,
  (scope) => reference(scope, "$ref"),
  (scope) => reference(scope, "$dynamicRef"),
  allOf,
  anyOf,
  oneOf,
  not,
  condition,
  dependentSchemas,
  dependencies,
];

function reference({ schema, at, reference: find }: Scope, keyword: string): Rule | undefined {
  if (schema[keyword] === undefined) return undefined;
  const target = find(keyword, readText(schema[keyword], pointerTo(at, keyword)));
  return (value, place, run, seen) => evaluate(target(), value, place, run, seen);
}

function allOf({ schema, at, inPlace }: Scope): Rule | undefined {
  const nodes = list(schema, "allOf", at, inPlace);
  return nodes.length === 0 ? undefined : every(nodes);
}

function every(nodes: readonly SchemaNode[]): Rule {
  return (value, place, run, seen) => {
    let fits = true;
    for (const node of nodes) {
      if (evaluate(node, value, place, run, seen)) continue;
      fits = false;
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

/** Tries a schema without reasons; what it has seen counts only if the value fits. */
function fitsQuietly(node: SchemaNode, value: unknown, run: Run, seen: Seen | undefined): boolean {
  const { tags, target } = node.sketch;
  const hasTags = tags.length > 0 || target !== undefined;
  if (hasTags && !isMeantFor(node, value, run)) return false;
  const own = seen === undefined ? undefined : new Seen(run.spend);
  const fits = run.quietly(() => evaluate(node, value, "", run, own));
  if (fits && own !== undefined) seen?.merge(own);
  return fits;
}

function anyOf({ schema, at, inPlace }: Scope): Rule | undefined {
  const nodes = list(schema, "anyOf", at, inPlace);
  if (nodes.length === 0) return undefined;
  return (value, place, run, seen) => {
    let fits = false;
    for (const node of nodes) {
      if (!fitsQuietly(node, value, run, seen)) continue;
      if (seen === undefined) return true;
      fits = true;
    }
    return fits || explainUnion("anyOf", nodes, value, place, run);
  };
}

function oneOf({ schema, at, inPlace }: Scope): Rule | undefined {
  const nodes = list(schema, "oneOf", at, inPlace);
  if (nodes.length === 0) return undefined;
  return (value, place, run, seen) => {
    let fitting = -1;
    for (let index = 0; index < nodes.length; index += 1) {
      if (!fitsQuietly(nodes[index]!, value, run, seen)) continue;
      if (fitting >= 0) {
        const both = `${fitting + 1} and ${index + 1}`;
        return run.fail(
          place,
          "oneOf",
          () => `expected one alternative to fit, but alternatives ${both} both do`,
        );
      }
      fitting = index;
    }
    return fitting >= 0 || explainUnion("oneOf", nodes, value, place, run);
  };
}

function not({ schema, at, inPlace }: Scope): Rule | undefined {
  const node = one(schema, "not", at, inPlace);
  if (node === undefined) return undefined;
  return (value, place, run) =>
    !fitsQuietly(node, value, run, undefined) ||
    run.fail(place, "not", () => "the value has the very form that the schema rules out");
}

function condition({ schema, at, inPlace }: Scope): Rule | undefined {
  const test = one(schema, "if", at, inPlace);
  const consequent = one(schema, "then", at, inPlace);
  const alternative = one(schema, "else", at, inPlace);
  if (test === undefined) return undefined;
  return (value, place, run, seen) => {
    const node = fitsQuietly(test, value, run, seen) ? consequent : alternative;
    return node === undefined || evaluate(node, value, place, run, seen);
  };
}

function dependentSchemas({ schema, at, inPlace }: Scope): Rule | undefined {
  const entries = many(schema, "dependentSchemas", at, inPlace);
  return entries.length === 0
    ? undefined
    : whenPresent(entries.map(([name, node]) => ({ name, rule: every([node]) })));
}

/** draft-07's one keyword for what are now dependentRequired and dependentSchemas. */
function dependencies({ schema, at, inPlace }: Scope): Rule | undefined {
  if (schema["dependencies"] === undefined) return undefined;
  const own = pointerTo(at, "dependencies");
  const entries = readMap(schema["dependencies"], own).map(([name, given]): Dependency => {
    const place = pointerTo(own, name);
    if (!Array.isArray(given)) {
      return { name, rule: every([inPlace(readSchema(given, place), place)]) };
    }
    const names = readNames(given, place);
    const rule: Rule = (value, where, run) =>
      !isObject(value) || hasAll(value, names, where, "dependencies", run);
    return { name, rule };
  });
  return whenPresent(entries);
}

interface Dependency {
  readonly name: string;
  readonly rule: Rule;
}

function whenPresent(entries: readonly Dependency[]): Rule {
  return (value, place, run, seen) => {
    if (!isObject(value)) return true;
    run.spend(STEPS.lookup * entries.length);
    let fits = true;
    for (const { name, rule } of entries) {
      if (!hasMember(value, name) || rule(value, place, run, seen)) continue;
      fits = false;
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

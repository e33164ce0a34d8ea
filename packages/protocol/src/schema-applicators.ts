import type { Pattern } from "./pattern.ts";
import { hasAll } from "./schema-assertions.ts";
import { readCount, readMap, readNames, readSchema, readSchemas, readText } from "./schema-read.ts";
import type { RawSchema } from "./schema-read.ts";
import { evaluate, Seen } from "./schema-run.ts";
import type { Rule, Run, SchemaNode } from "./schema-run.ts";
import { explainUnion } from "./schema-union.ts";
import { hasMember, isObject, memberNames, pointerTo } from "./schema-values.ts";

/** What the rules of one schema need from the compiler. */
export interface Scope {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly at: string;
  /** Compiles a schema for a part of the value, or, in place, for the value itself. */
  below(schema: RawSchema, at: string): SchemaNode;
  inPlace(schema: RawSchema, at: string): SchemaNode;
  /** Finds the schema a reference leads to, once all are compiled. */
  reference(keyword: string, reference: string): () => SchemaNode;
  pattern(source: string, at: string): Pattern;
}

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

function propertyNames({ schema, at, below }: Scope): Rule | undefined {
  const node = one(schema, "propertyNames", at, below);
  if (node === undefined) return undefined;
  return (value, place, run) => {
    if (!isObject(value)) return true;
    let fits = true;
    for (const name of memberNames(value)) {
      if (run.quietly(() => evaluate(node, name, "", run, undefined))) continue;
      fits = run.fail(run.below(place, name), "propertyNames", () => {
        return "the name of this member isn't one that the schema allows";
      });
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

function members({ schema, at, below, pattern }: Scope): Rule | undefined {
  const named = new Map(many(schema, "properties", at, below));
  const matched = many(schema, "patternProperties", at, below).map(
    ([source, node]) =>
      [pattern(source, pointerTo(pointerTo(at, "patternProperties"), source)), node] as const,
  );
  const others = one(schema, "additionalProperties", at, below);
  if (named.size === 0 && matched.length === 0 && others === undefined) return undefined;

  return (value, place, run, seen) => {
    if (!isObject(value)) return true;
    const names = memberNames(value);
    run.spend(names.length);
    let fits = true;
    for (const name of names) {
      const nodes = matched.filter(([each]) => each.test(name, run.spend)).map(([, node]) => node);
      const own = named.get(name);
      if (own !== undefined) nodes.push(own);
      if (nodes.length === 0 && others !== undefined) nodes.push(others);
      if (nodes.length > 0) seen?.add(name);
      if (nodes[0] === others && schema["additionalProperties"] === false) {
        fits = run.fail(run.below(place, name), "additionalProperties", () => unknownMember(named));
      } else {
        for (const node of nodes) {
          if (!evaluate(node, value[name], run.below(place, name), run, undefined)) fits = false;
        }
      }
      if (!fits && (!run.isExplaining || run.isFull)) return false;
    }
    return fits;
  };
}

function unknownMember(named: ReadonlyMap<string, unknown>): string {
  const known = [...named.keys()].slice(0, 10).map((name) => JSON.stringify(name.slice(0, 40)));
  const hint =
    known.length === 0 ? "" : `; known are ${known.join(", ")}${named.size > 10 ? ", …" : ""}`;
  return `this member isn't in the schema and no others are allowed${hint}`;
}

/** `items` as an array is draft-07's spelling of prefixItems, and additionalItems then means the rest. */
function items({ schema, at, below }: Scope): Rule | undefined {
  const isOldForm = Array.isArray(schema["items"]) && schema["prefixItems"] === undefined;
  const firstKeyword = isOldForm ? "items" : "prefixItems";
  const restKeyword = isOldForm ? "additionalItems" : "items";
  const first = list(schema, firstKeyword, at, below);
  const rest = one(schema, restKeyword, at, below);
  if (first.length === 0 && rest === undefined) return undefined;

  return (value, place, run, seen) => {
    if (!Array.isArray(value)) return true;
    const end = rest === undefined ? Math.min(first.length, value.length) : value.length;
    seen?.addItemsBelow(end);
    let fits = true;
    for (let index = 0; index < end; index += 1) {
      const node = first[index] ?? rest!;
      if (evaluate(node, value[index], run.below(place, index), run, undefined)) continue;
      fits = false;
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

function contains({ schema, at, below }: Scope): Rule | undefined {
  const read = (keyword: string, otherwise: number): number =>
    schema[keyword] === undefined ? otherwise : readCount(schema[keyword], pointerTo(at, keyword));
  const min = read("minContains", 1);
  const max = read("maxContains", Infinity);
  const node = one(schema, "contains", at, below);
  if (node === undefined) return undefined;

  return (value, place, run, seen) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    for (const [index, item] of value.entries()) {
      if (!run.quietly(() => evaluate(node, item, "", run, undefined))) continue;
      found += 1;
      seen?.add(index);
      if (found >= min && max === Infinity && seen === undefined) return true;
    }
    if (found < min) {
      const keyword = schema["minContains"] === undefined ? "contains" : "minContains";
      return run.fail(
        place,
        keyword,
        () => `expected at least ${min} items of a certain form, got ${found}`,
      );
    }
    return (
      found <= max ||
      run.fail(
        place,
        "maxContains",
        () => `expected at most ${max} items of a certain form, got ${found}`,
      )
    );
  };
}

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
  const own = seen === undefined ? undefined : new Seen();
  const fits = run.quietly(() => evaluate(node, value, "", run, own));
  if (fits && own !== undefined) seen?.merge(own, run.spend);
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
    for (const [index, node] of nodes.entries()) {
      if (!fitsQuietly(node, value, run, seen)) continue;
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
    : whenPresent(entries.map(([name, node]) => [name, every([node])]));
}

/** draft-07's one keyword for what are now dependentRequired and dependentSchemas. */
function dependencies({ schema, at, inPlace }: Scope): Rule | undefined {
  if (schema["dependencies"] === undefined) return undefined;
  const own = pointerTo(at, "dependencies");
  const entries = readMap(schema["dependencies"], own).map(([name, given]): [string, Rule] => {
    const place = pointerTo(own, name);
    if (!Array.isArray(given)) return [name, every([inPlace(readSchema(given, place), place)])];
    const names = readNames(given, place);
    return [
      name,
      (value, where, run) => !isObject(value) || hasAll(value, names, where, "dependencies", run),
    ];
  });
  return whenPresent(entries);
}

function whenPresent(entries: readonly (readonly [name: string, rule: Rule])[]): Rule {
  return (value, place, run, seen) => {
    if (!isObject(value)) return true;
    run.spend(entries.length);
    let fits = true;
    for (const [name, rule] of entries) {
      if (!hasMember(value, name) || rule(value, place, run, seen)) continue;
      fits = false;
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

/** The rule of unevaluatedProperties and unevaluatedItems, which runs when all others have passed. */
export function leftover({ schema, at, below }: Scope): Rule | undefined {
  const forMembers = one(schema, "unevaluatedProperties", at, below);
  const forItems = one(schema, "unevaluatedItems", at, below);
  if (forMembers === undefined && forItems === undefined) return undefined;
  return (value, place, run, seen) => {
    const isList = Array.isArray(value);
    const node = isList ? forItems : forMembers;
    if (node === undefined || (!isList && !isObject(value))) return true;
    const keyword = isList ? "unevaluatedItems" : "unevaluatedProperties";
    const keys: Iterable<string | number> = isList ? value.keys() : memberNames(value);
    let fits = true;
    for (const key of keys) {
      run.spend(1);
      if (seen?.has(key) === true) continue;
      const part = (value as Record<string | number, unknown>)[key];
      if (schema[keyword] === false) {
        fits = run.fail(
          run.below(place, key),
          keyword,
          () => "nothing in the schema speaks of this, and nothing else is allowed",
        );
      } else if (!evaluate(node, part, run.below(place, key), run, undefined)) fits = false;
      if (!fits && (!run.isExplaining || run.isFull)) return false;
    }
    seen?.addAll();
    return fits;
  };
}

type Compile = (schema: RawSchema, at: string) => SchemaNode;
type Schema = Readonly<Record<string, unknown>>;

function one(
  schema: Schema,
  keyword: string,
  at: string,
  compile: Compile,
): SchemaNode | undefined {
  const place = pointerTo(at, keyword);
  return schema[keyword] === undefined
    ? undefined
    : compile(readSchema(schema[keyword], place), place);
}

function list(schema: Schema, keyword: string, at: string, compile: Compile): SchemaNode[] {
  if (schema[keyword] === undefined) return [];
  const place = pointerTo(at, keyword);
  return readSchemas(schema[keyword], place).map((each, index) =>
    compile(each, pointerTo(place, index)),
  );
}

function many(
  schema: Schema,
  keyword: string,
  at: string,
  compile: Compile,
): [string, SchemaNode][] {
  if (schema[keyword] === undefined) return [];
  const place = pointerTo(at, keyword);
  return readMap(schema[keyword], place).map(([name, given]) => {
    const own = pointerTo(place, name);
    return [name, compile(readSchema(given, own), own)];
  });
}

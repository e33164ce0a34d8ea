import { hasAll } from "./assertions.ts";
import { STEPS } from "./costs.ts";
import { contains, items, members, propertyNames } from "./child-applicators.ts";
import { readMap, readNames, readSchema, readText } from "./keyword-values.ts";
import { evaluate, EvaluatedParts } from "./evaluate.ts";
import type { Rule, CheckRun, SchemaNode } from "./evaluate.ts";
import { schemaAt, schemaList, schemaMap } from "./compile-context.ts";
import type { CompileContext } from "./compile-context.ts";
import { explainUnion, mayFit } from "./alternatives.ts";
import { hasMember, isObject, pointerTo } from "./json-values.ts";

type Applicator = (context: CompileContext) => Rule | undefined;

/** Keywords that apply other schemas. Keywords that depend on one another make one rule. */
export const APPLICATORS: readonly Applicator[] = [
  propertyNames,
  members,
  items,
  contains,
  (context) => reference(context, "$ref"),
  (context) => reference(context, "$dynamicRef"),
  allOf,
  anyOf,
  oneOf,
  not,
  condition,
  dependentSchemas,
  dependencies,
];

function reference(
  { schema, at, reference: find }: CompileContext,
  keyword: string,
): Rule | undefined {
  if (schema[keyword] === undefined) return undefined;
  const target = find(keyword, readText(schema[keyword], pointerTo(at, keyword)));
  return (value, place, run, evaluated) => evaluate(target(), value, place, run, evaluated);
}

function allOf({ schema, at, inPlace }: CompileContext): Rule | undefined {
  const nodes = schemaList(schema, "allOf", at, inPlace);
  return nodes.length === 0 ? undefined : every(nodes);
}

function every(nodes: readonly SchemaNode[]): Rule {
  return (value, place, run, evaluated) => {
    let fits = true;
    for (const node of nodes) {
      if (evaluate(node, value, place, run, evaluated)) continue;
      fits = false;
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

/** Checks an alternative without collecting issues. What it evaluates counts only if the value fits. */
function fitsAlternative(
  node: SchemaNode,
  value: unknown,
  run: CheckRun,
  evaluated: EvaluatedParts | undefined,
): boolean {
  const { discriminators, target } = node.hints;
  const hasHints = discriminators.length > 0 || target !== undefined;
  if (hasHints && !mayFit(node, value, run)) return false;
  const own = evaluated === undefined ? undefined : new EvaluatedParts(run.spend);
  const fits = run.withoutIssues(() => evaluate(node, value, "", run, own));
  if (fits && own !== undefined) evaluated?.merge(own);
  return fits;
}

function anyOf({ schema, at, inPlace }: CompileContext): Rule | undefined {
  const nodes = schemaList(schema, "anyOf", at, inPlace);
  if (nodes.length === 0) return undefined;
  return (value, place, run, evaluated) => {
    let fits = false;
    for (const node of nodes) {
      if (!fitsAlternative(node, value, run, evaluated)) continue;
      if (evaluated === undefined) return true;
      fits = true;
    }
    return fits || explainUnion("anyOf", nodes, value, place, run);
  };
}

function oneOf({ schema, at, inPlace }: CompileContext): Rule | undefined {
  const nodes = schemaList(schema, "oneOf", at, inPlace);
  if (nodes.length === 0) return undefined;
  return (value, place, run, evaluated) => {
    let fitting = -1;
    for (let index = 0; index < nodes.length; index += 1) {
      if (!fitsAlternative(nodes[index]!, value, run, evaluated)) continue;
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

function not({ schema, at, inPlace }: CompileContext): Rule | undefined {
  const node = schemaAt(schema, "not", at, inPlace);
  if (node === undefined) return undefined;
  return (value, place, run) =>
    !fitsAlternative(node, value, run, undefined) ||
    run.fail(place, "not", () => "the value matches a schema that is not allowed");
}

function condition({ schema, at, inPlace }: CompileContext): Rule | undefined {
  const test = schemaAt(schema, "if", at, inPlace);
  const consequent = schemaAt(schema, "then", at, inPlace);
  const alternative = schemaAt(schema, "else", at, inPlace);
  if (test === undefined) return undefined;
  return (value, place, run, evaluated) => {
    const node = fitsAlternative(test, value, run, evaluated) ? consequent : alternative;
    return node === undefined || evaluate(node, value, place, run, evaluated);
  };
}

function dependentSchemas({ schema, at, inPlace }: CompileContext): Rule | undefined {
  const entries = schemaMap(schema, "dependentSchemas", at, inPlace);
  return entries.length === 0
    ? undefined
    : whenPresent(entries.map(([name, node]) => ({ name, rule: every([node]) })));
}

/** The keyword of draft-07 for what are now dependentRequired and dependentSchemas. */
function dependencies({ schema, at, inPlace }: CompileContext): Rule | undefined {
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
  return (value, place, run, evaluated) => {
    if (!isObject(value)) return true;
    run.spend(STEPS.lookup * entries.length);
    let fits = true;
    for (const { name, rule } of entries) {
      if (!hasMember(value, name) || rule(value, place, run, evaluated)) continue;
      fits = false;
      if (!run.isExplaining || run.isFull) return false;
    }
    return fits;
  };
}

import { fitsTypes } from "./assertions.ts";
import { STEPS } from "./costs.ts";
import { valuesIn } from "./value-sets.ts";
import { evaluate } from "./evaluate.ts";
import type { Run, SchemaNode, Sketch } from "./evaluate.ts";
import { describeValue, hasMember, isObject } from "./json-values.ts";

const MAX_HOPS = 8;
const MAX_TAGS = 4;

/** What is plain to see from a schema's own text about the values it is meant for. */
export function sketchOf(schema: Readonly<Record<string, unknown>>): Sketch {
  const { type, properties } = schema;
  const types =
    type === undefined ? {} : { types: new Set<string>(Array.isArray(type) ? type : [type]) };
  const tags: [string, ReturnType<typeof valuesIn>][] = [];
  for (const [name, given] of isObject(properties) ? Object.entries(properties) : []) {
    if (!isObject(given)) continue;
    if (given["const"] !== undefined) tags.push([name, valuesIn([given["const"]])]);
    else if (Array.isArray(given["enum"])) tags.push([name, valuesIn(given["enum"])]);
  }
  return { ...types, tags: tags.slice(0, MAX_TAGS) };
}

/** Whether a value may fit: false is the verdict, found at little cost; true says nothing yet. */
export function isMeantFor(start: SchemaNode, value: unknown, run: Run): boolean {
  let node = start;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const { types, tags, target } = node.sketch;
    run.spend(STEPS.rule + STEPS.lookup * tags.length);
    if (types !== undefined && !fitsTypes(types, value)) return false;
    const isOther = ([name, isAllowed]: (typeof tags)[number]): boolean =>
      isObject(value) && hasMember(value, name) && !isAllowed(value[name], run);
    if (tags.some(isOther)) return false;
    if (target === undefined) return true;
    node = target();
  }
  return true;
}

/**
 * Reports that no alternative fits. Where only one could be meant, its own reasons are given: "one of
 * nine alternatives" helps nobody who misspelt a member of the third.
 */
export function explainUnion(
  keyword: "anyOf" | "oneOf",
  nodes: readonly SchemaNode[],
  value: unknown,
  place: string,
  run: Run,
): false {
  if (!run.isExplaining) return false;
  const meant = nodes.filter((node) => isMeantFor(node, value, run));
  if (meant.length === 1) {
    evaluate(meant[0]!, value, place, run, undefined);
    return false;
  }
  return run.fail(place, keyword, () => {
    const types = new Set(nodes.flatMap((node) => [...(node.sketch.types ?? [])]));
    const hint = types.size === 0 || meant.length > 0 ? "" : ` (${[...types].join(", ")})`;
    return `expected a value that fits one of ${nodes.length} alternatives${hint}, got ${describeValue(value)}`;
  });
}

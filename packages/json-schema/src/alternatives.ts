import { fitsTypes } from "./assertions.ts";
import { STEPS } from "./costs.ts";
import { isOneOf } from "./value-sets.ts";
import { evaluate } from "./evaluate.ts";
import type { CheckRun, SchemaNode, SchemaHints } from "./evaluate.ts";
import { describeValue, hasMember, isObject } from "./json-values.ts";

const MAX_HOPS = 8;
const MAX_DISCRIMINATORS = 4;

/** Reads from a schema, without compiling it, which values it can be meant for. */
export function hintsOf(schema: Readonly<Record<string, unknown>>): SchemaHints {
  const { type, properties } = schema;
  const types =
    type === undefined ? {} : { types: new Set<string>(Array.isArray(type) ? type : [type]) };
  const discriminators: [string, ReturnType<typeof isOneOf>][] = [];
  for (const [name, given] of isObject(properties) ? Object.entries(properties) : []) {
    if (!isObject(given)) continue;
    if (given["const"] !== undefined) discriminators.push([name, isOneOf([given["const"]])]);
    else if (Array.isArray(given["enum"])) discriminators.push([name, isOneOf(given["enum"])]);
  }
  return { ...types, discriminators: discriminators.slice(0, MAX_DISCRIMINATORS) };
}

/** Whether a value may fit. False is final and cheap to find; true needs the full check. */
export function mayFit(start: SchemaNode, value: unknown, run: CheckRun): boolean {
  let node = start;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const { types, discriminators, target } = node.hints;
    run.spend(STEPS.rule + STEPS.lookup * discriminators.length);
    if (types !== undefined && !fitsTypes(types, value)) return false;
    const isOther = ([name, isAllowed]: (typeof discriminators)[number]): boolean =>
      isObject(value) && hasMember(value, name) && !isAllowed(value[name], run);
    if (discriminators.some(isOther)) return false;
    if (target === undefined) return true;
    node = target();
  }
  return true;
}

/**
 * Reports that no alternative fits. If only one of them can be meant, the issues are its own: "one of
 * nine alternatives" does not help an author who misspelt a member of the third.
 */
export function explainUnion(
  keyword: "anyOf" | "oneOf",
  nodes: readonly SchemaNode[],
  value: unknown,
  place: string,
  run: CheckRun,
): false {
  if (!run.isExplaining) return false;
  const meant = nodes.filter((node) => mayFit(node, value, run));
  if (meant.length === 1) {
    evaluate(meant[0]!, value, place, run, undefined);
    return false;
  }
  return run.fail(place, keyword, () => {
    const types = new Set(nodes.flatMap((node) => [...(node.hints.types ?? [])]));
    const hint = types.size === 0 || meant.length > 0 ? "" : ` (${[...types].join(", ")})`;
    return `expected a value that fits one of ${nodes.length} alternatives${hint}, got ${describeValue(value)}`;
  });
}

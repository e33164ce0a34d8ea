import { charge } from "./allowance.ts";
import type { SchemaAllowance } from "./allowance.ts";
import { pointerTo } from "./json-values.ts";
import { isReservedName, refuse, tooLarge } from "./keyword-values.ts";
import { SCHEMA_LIMITS } from "./limits.ts";
import type { SchemaLimits } from "./limits.ts";

/** What `copySchema` may spend on one schema. */
export interface CopyOptions extends Partial<Pick<SchemaLimits, "schemaDepth" | "schemaNodes">> {
  /** Pays for the characters of the schema, together with other schemas. */
  readonly allowance?: SchemaAllowance | undefined;
}

/** A schema as plain data, and how many JSON values it consists of. */
export interface CopiedSchema {
  readonly schema: unknown;
  readonly values: number;
}

const CHARACTERS_OF_VALUE = 8;

/**
 * Copies an untrusted schema, of any notation, into plain data of its own. The caller can no longer
 * change the copy, its size and depth are limited, a cycle is refused as too deep, no two places share
 * an object, and no name in it reaches a prototype. `compileSchema` does this by itself.
 */
export function copySchema(source: unknown, options: CopyOptions = {}): CopiedSchema {
  const { schemaDepth, schemaNodes, allowance } = { ...SCHEMA_LIMITS, ...options };
  // One level of schemas takes two levels of JSON (`properties`, then the name); annotations nest too.
  const maxDepth = 4 * schemaDepth + 8;
  const maxValues = 10 * schemaNodes;
  let values = 0;
  let characters = 0;
  const copy = (value: unknown, at: string, depth: number): unknown => {
    values += 1;
    if (values > maxValues) tooLarge(at, `it has more than ${maxValues} values`);
    if (typeof value === "string") characters += value.length;
    if (typeof value !== "object" || value === null) return value;
    if (depth >= maxDepth) tooLarge(at, `it is nested deeper than ${maxDepth} levels`);
    if (Array.isArray(value)) {
      return Array.from(value, (item, index) => copy(item, pointerTo(at, index), depth + 1));
    }
    const names = Object.keys(value);
    if (names.length > schemaNodes) tooLarge(at, `an object has more than ${schemaNodes} members`);
    const copied: Record<string, unknown> = {};
    for (const name of names) {
      if (isReservedName(name))
        refuse(pointerTo(at, name), `the name ${JSON.stringify(name)} is reserved`);
      const member = (value as Record<string, unknown>)[name];
      // As in JSON, a member that is undefined is absent.
      if (member === undefined) continue;
      characters += name.length;
      copied[name] = copy(member, pointerTo(at, name), depth + 1);
    }
    return copied;
  };
  const schema = copy(source, "", 0);
  if (allowance !== undefined) {
    charge(allowance, "characters", characters + CHARACTERS_OF_VALUE * values);
  }
  return { schema, values };
}

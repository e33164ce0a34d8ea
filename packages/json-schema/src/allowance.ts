import { JsonSchemaError } from "./error.ts";

/**
 * What several schemas, such as those of one document, may hold together. Each takes its share of the
 * rest. The limits of a single schema don't bound five hundred of them.
 */
export interface SchemaAllowance {
  schemas: number;
  /** Instructions that patterns expand to. */
  instructions: number;
  /** Characters of names and strings, and eight for each value. */
  characters: number;
}

const SCHEMA_ALLOWANCE: Readonly<SchemaAllowance> = {
  schemas: 20_000,
  instructions: 100_000,
  characters: 2 * 1024 * 1024,
};

const WORDS: Readonly<Record<keyof SchemaAllowance, string>> = {
  schemas: "schemas",
  instructions: "pattern instructions",
  characters: "characters",
};

/** A new allowance for schemas of one document: 20,000 schemas, 100,000 pattern instructions. */
export function schemaAllowance(): SchemaAllowance {
  return { ...SCHEMA_ALLOWANCE };
}

/** Takes from an allowance, and throws if it is exceeded. */
export function charge(
  allowance: SchemaAllowance,
  what: keyof SchemaAllowance,
  count: number,
): void {
  allowance[what] -= count;
  if (allowance[what] >= 0) return;
  throw new JsonSchemaError(
    "limit",
    `the schemas are too large together: they have more than ${SCHEMA_ALLOWANCE[what]} ${WORDS[what]}`,
  );
}

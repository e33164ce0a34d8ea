import { JsonSchemaError } from "./error.ts";

/**
 * What several schemas may hold together, such as those of one document: each takes its share of what
 * is left. Limits bound a single schema; five hundred of them need this.
 */
export interface SchemaAllowance {
  schemas: number;
  /** Instructions that patterns expand to. */
  instructions: number;
  /** Characters of names and texts, and eight for each value. */
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

/** A new allowance for schemas that come together: 20,000 schemas, 100,000 pattern instructions. */
export function schemaAllowance(): SchemaAllowance {
  return { ...SCHEMA_ALLOWANCE };
}

/** Takes from an allowance, and throws where it does not suffice. */
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

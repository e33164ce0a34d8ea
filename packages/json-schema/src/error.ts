/** What was broken: a rule of JSON Schema (or of the pattern syntax), or one of the limits. */
export type JsonSchemaErrorKind = "invalid" | "limit";

/** The fields of a `JsonSchemaError` besides its kind and its message. */
export interface JsonSchemaErrorOptions {
  cause?: unknown;
  /** Where in the schema the fault is, as a JSON Pointer. */
  at?: string | undefined;
}

// Two copies of this package may be loaded side by side, so the mark is a registered symbol and
// never a class identity.
const BRAND: unique symbol = Symbol.for("waybill.json-schema.error") as never;

/**
 * The one error of this package: a schema or a pattern is refused, or judging a value costs too much.
 * A value that does not fit its schema is no error: `check` returns its issues.
 *
 * @example
 * ```ts
 * try {
 *   compileSchema(untrusted);
 * } catch (error) {
 *   if (JsonSchemaError.is(error, "limit")) console.log("too large or too costly:", error.message);
 *   else if (JsonSchemaError.is(error)) console.log("invalid at", error.at, error.message);
 *   else throw error;
 * }
 * ```
 */
export class JsonSchemaError extends Error {
  readonly kind: JsonSchemaErrorKind;
  /** Where in the schema the fault is, as a JSON Pointer; undefined if it has no place there. */
  readonly at: string | undefined;

  constructor(kind: JsonSchemaErrorKind, message: string, options: JsonSchemaErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "JsonSchemaError";
    this.kind = kind;
    this.at = options.at;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for a `JsonSchemaError` of any copy of this package, of this kind if one is given. */
  static is(value: unknown, kind?: JsonSchemaErrorKind): value is JsonSchemaError {
    return (
      value instanceof Error &&
      (value as { [BRAND]?: unknown })[BRAND] === true &&
      (kind === undefined || (value as JsonSchemaError).kind === kind)
    );
  }
}

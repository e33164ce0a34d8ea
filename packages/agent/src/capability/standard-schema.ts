import { WaybillError } from "@waybill/protocol";

/**
 * What the schemas of zod 4, Valibot, ArkType and many others have in common: the Standard Schema
 * interface, version 1 (https://standardschema.dev).
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The members that a schema library offers to others. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema accepts. */
export type SchemaInput<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["input"];

/** The type that a schema parses to. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["output"];

/** The parsed value, or what is wrong with it. */
export type Read<Output> =
  | { readonly value: Output; readonly faults?: undefined }
  | { readonly faults: readonly Fault[] };

/** One thing that is wrong with a value, and where: a JSON Pointer, empty for the whole of it. */
export interface Fault {
  readonly at: string;
  readonly message: string;
}

/** Validates a value by the schema's own library. A schema that throws rejects the value, too. */
export async function readWith<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<Read<Output>> {
  try {
    const validated = await schema["~standard"].validate(value);
    if (validated.issues === undefined) return { value: validated.value };
    return {
      faults: validated.issues.map(({ message, path = [] }) => ({ at: pointerOf(path), message })),
    };
  } catch (error) {
    return {
      faults: [{ at: "", message: `it can't be checked: ${WaybillError.from(error).message}` }],
    };
  }
}

const SHOWN = 5;

/** The issues as one text: `/topic: Too small; /depth: Expected number`. */
export function describeFaults(faults: readonly Fault[]): string {
  const shown = faults
    .slice(0, SHOWN)
    .map(({ at, message }) => (at === "" ? message : `${at}: ${message}`));
  const more = faults.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function pointerOf(path: NonNullable<StandardIssue["path"]>): string {
  // Not `path.map`: the path of ArkType has a `map` of its own that makes one segment of none.
  return Array.from(path, (segment) => (typeof segment === "object" ? segment.key : segment))
    .map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

import { parseManifest, schemaFrom, WaybillError } from "@waybill/protocol";
import type { CapabilityInput, Json, JsonSchema, SchemaSide } from "@waybill/protocol";
import { checkCapabilityName } from "../ids.ts";
import type { JsonLike } from "./json-like.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "./standard-schema.ts";

/** The schemas of the answers that a capability asks for, by question name. */
export interface QuestionSchemas {
  readonly [name: string]: StandardSchema;
}

/**
 * What a manifest says about a capability besides its schemas, in the manifest's own terms: `version`,
 * `description`, `lease_seconds`, `concurrency` and so on.
 */
export type CapabilityTerms = Omit<
  {
    [
      Member in keyof CapabilityInput as string extends Member ? never : Member
    ]: CapabilityInput[Member];
  },
  "name" | "input_schema" | "output_schema"
>;

/** What `capability` takes. */
export interface CapabilityOptions<
  Input extends StandardSchema | undefined = StandardSchema | undefined,
  Output extends StandardSchema | undefined = StandardSchema | undefined,
  Questions extends QuestionSchemas | undefined = QuestionSchemas | undefined,
> extends CapabilityTerms {
  /** Its name: 1 to 128 of A-Z a-z 0-9 _ . : / -. */
  readonly name: string;
  /**
   * The input of the work. The delegator sends what the schema accepts; the handler gets what it
   * parses to.
   */
  readonly input?: Input;
  /**
   * The output of the work. Both sides check it, so the schema has to accept its own output: defaults
   * and optional members are fine, a transformation into another type does not compile.
   */
  readonly output?: Output & TakesWhatItMakes<Output>;
  /** The questions that the handler may ask, by name: the schema of each answer. */
  readonly questions?: Questions;
  /** The JSON Schema of `input`, for a library that can't generate it. */
  readonly input_schema?: JsonSchema | undefined;
  /** The JSON Schema of `output`, for a library that can't generate it. */
  readonly output_schema?: JsonSchema | undefined;
  /** The JSON Schemas of answers, for a library that can't generate them. */
  readonly question_schemas?: { readonly [Name in keyof Questions]?: JsonSchema } | undefined;
}

type TakesWhatItMakes<Output> = Output extends StandardSchema
  ? SchemaOutput<Output> extends SchemaInput<Output>
    ? unknown
    : { readonly "an output schema must take what it makes: leave the transformation out": never }
  : unknown;

/**
 * A capability that is declared once for both sides: `agent.serve` types and checks its handler by it,
 * `agent.handoff` its input and its result.
 */
export interface CapabilityDeclaration<
  Input extends StandardSchema | undefined = StandardSchema | undefined,
  Output extends StandardSchema | undefined = StandardSchema | undefined,
  Questions extends QuestionSchemas | undefined = QuestionSchemas | undefined,
> {
  readonly "~waybill": "capability";
  /** Its name. */
  readonly name: string;
  /** Its version; the manifest says `1` by default. */
  readonly version: string | undefined;
  /** The schema of its input. */
  readonly input: Input;
  /** The schema of its output. */
  readonly output: Output;
  /** The schemas of the answers that it asks for. */
  readonly questions: Questions;
  /** The capability in the manifest of the agent that serves it. */
  readonly manifest: CapabilityInput;
  /** The JSON Schema of the answer to each question. */
  readonly questionSchemas: { readonly [name: string]: JsonSchema };
}

/** What a delegator passes to a declared capability. */
export type InputOf<Declaration extends CapabilityDeclaration> =
  Declaration["input"] extends StandardSchema ? SchemaInput<Declaration["input"]> : JsonLike;

/** What the handler of a declared capability gets: its input, as parsed by the schema. */
export type ReadInputOf<Declaration extends CapabilityDeclaration> =
  Declaration["input"] extends StandardSchema ? SchemaOutput<Declaration["input"]> : Json;

/** What the handler of a declared capability returns. */
export type ReturnOf<Declaration extends CapabilityDeclaration> =
  Declaration["output"] extends StandardSchema ? SchemaInput<Declaration["output"]> : JsonLike;

/** What the result of a declared capability contains. */
export type OutputOf<Declaration extends CapabilityDeclaration> =
  Declaration["output"] extends StandardSchema
    ? SchemaOutput<Declaration["output"]>
    : Json | undefined;

/**
 * Declares a capability, in a module that both sides import: the agent that serves it, and agents that
 * hand work to it. Schemas may come from any library with Standard Schema: zod 4, Valibot, ArkType. A
 * library that can't generate JSON Schema needs it beside: `input_schema`, `output_schema`.
 *
 * @example
 * ```ts
 * export const research = capability({
 *   name: "web_research",
 *   version: "1.0",
 *   input: z.object({ topic: z.string(), depth: z.int().default(1) }),
 *   output: z.object({ summary: z.string() }),
 *   questions: { language: z.enum(["en", "de"]) },
 *   lease_seconds: 30,
 * });
 * ```
 */
export function capability<
  const Input extends StandardSchema | undefined = undefined,
  const Output extends StandardSchema | undefined = undefined,
  const Questions extends QuestionSchemas | undefined = undefined,
>(
  options: CapabilityOptions<Input, Output, Questions>,
): CapabilityDeclaration<Input, Output, Questions> {
  const { name, input, output, questions, ...rest } = options as CapabilityOptions;
  const { input_schema, output_schema, question_schemas = {}, ...terms } = rest;
  checkCapabilityName(name);
  const manifest: CapabilityInput = { name, ...terms };
  const inputSchema =
    input_schema ?? jsonSchemaOf(input, "input", `input of ${name}`, "input_schema");
  const outputSchema =
    output_schema ?? jsonSchemaOf(output, "output", `output of ${name}`, "output_schema");
  if (inputSchema !== undefined) manifest.input_schema = inputSchema;
  if (outputSchema !== undefined) manifest.output_schema = outputSchema;
  const questionSchemas = Object.fromEntries(
    Object.entries(questions ?? {}).map(([asked, schema]) => {
      checkQuestionName(name, asked);
      const what = `answer to ${asked} of ${name}`;
      const beside = `question_schemas: { ${asked}: … }`;
      return [asked, question_schemas[asked] ?? jsonSchemaOf(schema, "input", what, beside)!];
    }),
  );
  // A term that no manifest can contain throws here, where it was written, and not when it is served.
  parseManifest({ agent_id: "any", capabilities: [manifest] });
  return Object.freeze({
    "~waybill": "capability",
    name,
    version: terms.version,
    input: input as Input,
    output: output as Output,
    questions: questions as Questions,
    manifest,
    questionSchemas,
  });
}

export function isDeclaration(value: unknown): value is CapabilityDeclaration {
  return (value as { "~waybill"?: unknown } | undefined)?.["~waybill"] === "capability";
}

/**
 * The versions that a delegator with this declaration accepts: the same major version, from this one
 * on, because the other side may have been deployed since. A version that is not a number is matched
 * exactly.
 */
export function wantedVersion({ version }: CapabilityDeclaration): string | undefined {
  return version !== undefined && /^\d+(?:\.\d+)*$/.test(version) ? `^${version}` : version;
}

function jsonSchemaOf(
  schema: StandardSchema | undefined,
  side: SchemaSide,
  what: string,
  beside: string,
): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  if (schema?.["~standard"]?.validate === undefined) {
    throw new WaybillError(
      400,
      `The ${what} is not a Standard Schema: give a schema of zod 4, Valibot, ArkType or another library that implements it. A JSON Schema alone goes into agent.serve({ name, input_schema }).`,
    );
  }
  try {
    return schemaFrom(schema, side);
  } catch (cause) {
    const { vendor } = schema["~standard"];
    const wrapped =
      vendor === "valibot" ? ", or wrap it in toStandardJsonSchema of @valibot/to-json-schema" : "";
    throw new WaybillError(
      400,
      `The ${what} can't be published, because its schema (of ${vendor}) gives no JSON Schema. Give it beside: ${beside}${wrapped}. The reason: ${WaybillError.from(cause).message}`,
      { cause },
    );
  }
}

const QUESTION_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}$/;

function checkQuestionName(name: string, question: string): void {
  if (QUESTION_NAME.test(question)) return;
  throw new WaybillError(
    400,
    `The question ${JSON.stringify(question)} of ${name} has an invalid name: it must have 1 to 64 of A-Z a-z 0-9 _ . : -, for example "language".`,
  );
}

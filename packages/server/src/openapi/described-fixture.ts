import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";

export type Json = Record<string, unknown>;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Json;
}

export interface Described {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly security: readonly Json[];
  readonly parameters: readonly Parameter[];
  readonly body: Json | undefined;
  /** For each status and content type, the schema of the answer. */
  readonly answers: ReadonlyMap<number, ReadonlyMap<string, ValidateFunction | undefined>>;
}

interface Document {
  readonly paths: Record<string, Record<string, Json>>;
  readonly components: { schemas: Json; responses: Record<string, Json> };
}

export const ajv: Ajv2020 = new Ajv2020({
  strict: false,
  validateFormats: false,
  unicodeRegExp: true,
});

/** Reads a description as a client in any language would: only from the document. */
export function readDescription(given: unknown): Described[] {
  const document = given as Document;
  const resolve = (value: Json): Json => {
    const reference = value["$ref"];
    if (typeof reference !== "string") return value;
    let place: unknown = document;
    for (const name of reference.slice(2).split("/")) place = (place as Json)[name];
    return resolve(place as Json);
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const {
        parameters = [],
        requestBody,
        responses,
        security,
      } = operation as {
        parameters?: Parameter[];
        requestBody?: { content: Record<string, { schema: Json }> };
        responses: Record<string, Json>;
        security: Json[];
      };
      const schema = requestBody?.content["application/json"]?.schema;
      return {
        id: operation["operationId"] as string,
        method: method.toUpperCase(),
        path,
        security,
        parameters,
        body: schema && resolve(schema),
        answers: new Map(
          Object.entries(responses).map(([status, response]) => [
            Number(status),
            contentsOf(resolve(response), resolve),
          ]),
        ),
      };
    }),
  );
}

function contentsOf(
  response: Json,
  resolve: (value: Json) => Json,
): ReadonlyMap<string, ValidateFunction | undefined> {
  const content = (response["content"] ?? {}) as Record<string, { schema: Json }>;
  return new Map(
    Object.entries(content).map(([type, { schema }]) => [
      type,
      type.endsWith("json") && !type.endsWith("ndjson") ? ajv.compile(resolve(schema)) : undefined,
    ]),
  );
}

/** Values of every wrong kind, and at the bounds of what is valid. */
const WRONG: readonly unknown[] = [
  null,
  true,
  "",
  "x",
  "\u0000",
  "é".repeat(3_000),
  -1,
  0,
  1.5,
  1e15,
  [],
  [null],
  ["x"],
  {},
  { x: 1 },
];

/** Each object that differs from a valid one in one place. */
export function mutated(sound: Json, schema: Json): Json[] {
  const { properties = {} } = schema as { properties?: Record<string, Json> };
  return Object.keys(properties).flatMap((name) => {
    const { [name]: _left, ...without } = sound;
    return [without, ...WRONG.map((value) => ({ ...sound, [name]: value }))];
  });
}

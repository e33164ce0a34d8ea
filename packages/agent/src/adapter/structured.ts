import { WaybillError } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";
import { jsonIn } from "./json-text.ts";
import type { PortableWork } from "./portable.ts";
import { faultOf } from "./schema.ts";
import { statedIn } from "./stated.ts";

/**
 * The work as one value that matches a schema: its input, or the first of these conversions of its
 * words that matches: the conversation as `{ messages }`, the words as JSON, the words as a string,
 * and the words as the only required string of an object.
 */
export function inputOf(work: PortableWork, schema: JsonSchema): Json {
  if (work.input !== undefined) return fitting([work.input], schema);
  const words = wordsIn(work);
  const parsed = words === undefined ? undefined : jsonIn(words);
  return fitting(
    [
      ...(work.messages === undefined || !asksFor("messages", schema)
        ? []
        : [{ messages: work.messages as unknown as Json }]),
      ...(parsed !== undefined && "value" in parsed ? [parsed.value] : []),
      ...(words === undefined
        ? []
        : [words, ...textMembersOf(schema).map((name) => ({ [name]: words }))]),
    ],
    schema,
  );
}

function wordsIn({ brief, messages }: PortableWork): string | undefined {
  if (brief !== undefined) return brief.instruction;
  const { task = "" } = messages === undefined ? {} : statedIn(messages);
  return task === "" ? undefined : task;
}

function fitting(candidates: readonly Json[], schema: JsonSchema): Json {
  let first: string | undefined;
  for (const each of candidates) {
    const fault = faultOf(each, schema);
    if (fault === undefined) return each;
    first ??= fault;
  }
  throw new WaybillError(
    422,
    first === undefined
      ? "The handoff contains nothing that can serve as the input: give input, or text that can be read as it."
      : `The content of the handoff violates the input schema at ${first}.`,
  );
}

function asksFor(member: string, schema: JsonSchema): boolean {
  return member in (propertiesOf(schema) ?? {});
}

/** The only required member of an object schema, if it is a string. */
function textMembersOf(schema: JsonSchema): string[] {
  const required = (schema as { required?: unknown }).required;
  if (!Array.isArray(required) || required.length !== 1) return [];
  const [name] = required as string[];
  const member = propertiesOf(schema)?.[name!] as { type?: unknown } | undefined;
  return member?.type === "string" ? [name!] : [];
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, unknown>> | undefined {
  return (schema as { properties?: Record<string, unknown> }).properties;
}

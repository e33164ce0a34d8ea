import { asUntrusted } from "@waybill/protocol";
import type { Capability, Json, JsonSchema, Message } from "@waybill/protocol";
import type { PortableWork } from "./portable.ts";

/** What a model gives where work is asked for in words. */
const IN_WORDS: JsonSchema = {
  type: "object",
  properties: {
    instruction: {
      type: "string",
      description: "What is to be done, for one who knows nothing else.",
    },
    expected_output: { type: "string", description: "What the result has to be." },
  },
};

/** The arguments of a tool that hands off: the input, or the work in words. */
export function argumentsOf({ takes, input_schema: schema }: Capability): JsonSchema {
  if (takes !== "structured") return IN_WORDS;
  const shown = withQuietWords(schema as Json) as JsonSchema;
  return isOfObject(schema)
    ? shown
    : { type: "object", properties: { input: shown }, required: ["input"] };
}

/** The work that a model's arguments ask for. A conversation takes along what was said before. */
export function workFrom(
  given: Json,
  { takes, input_schema: schema }: Capability,
  messages: readonly Message[],
): PortableWork {
  if (takes === "structured")
    return { input: isOfObject(schema) ? given : (given as { input: Json }).input };
  const { instruction, expected_output } = given as Record<string, string | undefined>;
  return {
    ...(instruction === undefined
      ? {}
      : { brief: { instruction, ...(expected_output === undefined ? {} : { expected_output }) } }),
    ...(takes === "conversation" && messages.length > 0 ? { messages: [...messages] } : {}),
  };
}

function isOfObject(schema: JsonSchema): boolean {
  return typeof schema === "object" && (schema as { type?: unknown }).type === "object";
}

const WORDS = new Set(["description", "title", "$comment"]);
const WORDS_SHOWN = 256;

/** A stranger's schema, with its free words as bounded lines: a model reads them too. */
function withQuietWords(schema: Json, isNamed = false): Json {
  if (Array.isArray(schema)) return schema.map((each) => withQuietWords(each));
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, value]): [string, Json] => {
    if (!isNamed && WORDS.has(name) && typeof value === "string")
      return [name, asUntrusted(value, WORDS_SHOWN)];
    // Under `properties` a member's name is the author's, and `title` is no keyword.
    return [name, withQuietWords(value, !isNamed && NAMED.has(name))];
  });
  return Object.fromEntries(members);
}

const NAMED = new Set(["properties", "patternProperties", "$defs", "dependentSchemas"]);

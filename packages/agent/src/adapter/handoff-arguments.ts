import type { Artifact, Capability, Json, JsonSchema, Message } from "@waybill/protocol";
import { filesIn } from "./files.ts";
import type { PortableWork } from "./portable.ts";
import { schemaForModel } from "./schema-for-model.ts";

/** The arguments of a model where work is requested in words. */
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

/** The arguments of a tool that hands off: the input, or the request in words. */
export function argumentsOf({ takes, input_schema: schema }: Capability): JsonSchema {
  if (takes !== "structured") return IN_WORDS;
  const shown = schemaForModel(schema);
  return isOfObject(schema)
    ? shown
    : { type: "object", properties: { input: shown }, required: ["input"] };
}

/**
 * The work that a model's arguments request, with the files that go along. A conversation carries what
 * was said before; other work carries the media in it.
 */
export function workFrom(
  given: Json,
  capability: Capability,
  messages: readonly Message[],
  brought: readonly Artifact[] = [],
): PortableWork {
  const files = capability.takes === "conversation" ? [...brought] : filesIn(messages, brought);
  const artifacts = files.length === 0 ? {} : { artifacts: files };
  return { ...askedFor(given, capability, messages), ...artifacts };
}

function askedFor(
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

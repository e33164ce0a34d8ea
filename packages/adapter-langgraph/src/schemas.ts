import { getJsonSchemaFromSchema, StateSchema } from "@langchain/langgraph";
import type { CapabilityInput } from "@waybill/protocol";
import type { Graph } from "./graph.ts";
import { isConversation } from "./state-in.ts";

type Schemas = Pick<CapabilityInput, "takes" | "input_schema" | "output_schema">;

interface Definitions {
  readonly _schemaRuntimeDefinition?: unknown;
  readonly _inputRuntimeDefinition?: unknown;
  readonly _outputRuntimeDefinition?: unknown;
}

/**
 * The schemas of a graph's state, if it was declared with zod or a `StateSchema`. An `Annotation.Root`
 * has types and no schema, so nothing can be derived. Messages are LangChain's own form, which other
 * agents can't be asked for.
 */
export function schemasOf(graph: Graph): Schemas {
  if (isConversation(graph)) return { takes: "conversation" };
  const { _schemaRuntimeDefinition: state, ...own } = (graph.builder ?? {}) as Definitions;
  const input = schemaOf(own._inputRuntimeDefinition, "input") ?? partOf(schemaOf(state, "input"));
  const output = schemaOf(own._outputRuntimeDefinition, "output") ?? schemaOf(state, "output");
  return {
    ...(input === undefined ? {} : { input_schema: input }),
    ...(output === undefined ? {} : { output_schema: output }),
  };
}

type Schema = Record<string, unknown>;

function schemaOf(definition: unknown, side: "input" | "output"): Schema | undefined {
  if (StateSchema.isInstance(definition)) {
    const { required, ...whole } = definition.getJsonSchema() as Schema;
    const shown = side === "input" ? (definition.getInputJsonSchema() as Schema) : whole;
    return { ...shown, ...(required === undefined ? {} : { required }) };
  }
  if (definition === undefined) return undefined;
  try {
    return getJsonSchemaFromSchema(definition);
  } catch {
    return undefined;
  }
}

/** Without an input schema, a graph accepts any part of its state. */
function partOf(state: Schema | undefined): Schema | undefined {
  if (state === undefined) return undefined;
  const { required: _, ...part } = state;
  return part;
}

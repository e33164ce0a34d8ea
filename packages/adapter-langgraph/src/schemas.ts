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
 * What a graph knows of its own state, where that was said in zod or a `StateSchema`. An
 * `Annotation.Root` has types and no schema: there is nothing to derive. Messages are LangChain's
 * own form, which nobody else is to be asked for.
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

/** Where its input has no form of its own, a graph takes any part of its state. */
function partOf(state: Schema | undefined): Schema | undefined {
  if (state === undefined) return undefined;
  const { required: _, ...part } = state;
  return part;
}

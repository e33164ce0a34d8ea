import { WaybillError } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";
import { jsonIn } from "./json-text.ts";
import { faultOf, takesText } from "./schema.ts";

/** Tells the model what is wrong with its reply, and returns its next reply. */
export type AskAgain = (request: string) => Promise<string>;

/**
 * Converts a reply in words to the promised output. A reply that does not match is requested once
 * more; after that it is a 520.
 */
export async function outputOf(reply: string, schema: JsonSchema, again?: AskAgain): Promise<Json> {
  const first = readOutput(reply, schema);
  if ("output" in first) return first.output;
  if (again === undefined) throw invalid(first.fault);
  const second = readOutput(await again(repairRequest(first.fault, schema)), schema);
  if ("output" in second) return second.output;
  throw invalid(second.fault);
}

/** Reads a reply as the promised output, or says what is wrong with it. */
export function readOutput(
  reply: string,
  schema: JsonSchema,
): { readonly output: Json } | { readonly fault: string } {
  if (reply.trim() === "") return { fault: "the reply is empty" };
  if (takesText(schema)) return { output: reply };
  const parsed = jsonIn(reply);
  if ("fault" in parsed) return parsed;
  const fault = faultOf(parsed.value, schema);
  return fault === undefined ? { output: parsed.value } : { fault };
}

/** The message to a model whose reply does not match the promised output. */
function repairRequest(fault: string, schema: JsonSchema): string {
  return `That can't be used: ${fault}. Reply with JSON alone, by this JSON Schema: ${JSON.stringify(schema)}`;
}

function invalid(fault: string): WaybillError {
  return new WaybillError(520, `The reply does not fit the declared output: ${fault}`);
}

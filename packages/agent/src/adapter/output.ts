import { WaybillError } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";
import { jsonIn } from "./json-text.ts";
import { faultOf, takesText } from "./schema.ts";

/** Says to whoever has replied what is wrong, and gives the next reply. */
export type AskAgain = (request: string) => Promise<string>;

/**
 * A reply in words as the output that was promised. Where it is not, it is asked for once more, and
 * then it is a 520.
 */
export async function outputOf(reply: string, schema: JsonSchema, again?: AskAgain): Promise<Json> {
  const first = readOutput(reply, schema);
  if ("output" in first) return first.output;
  if (again === undefined) throw invalid(first.fault);
  const second = readOutput(await again(repairRequest(first.fault, schema)), schema);
  if ("output" in second) return second.output;
  throw invalid(second.fault);
}

/** Reads a reply as the output that was promised, or says what is wrong with it. */
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

/** What a model is told whose reply is not what was promised. */
export function repairRequest(fault: string, schema: JsonSchema): string {
  return `That can't be used: ${fault}. Reply with JSON alone, by this JSON Schema: ${JSON.stringify(schema)}`;
}

function invalid(fault: string): WaybillError {
  return new WaybillError(520, `The reply is not the output that was promised: ${fault}`);
}

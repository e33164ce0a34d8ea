import { compileSchema, parseJson, WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

/** What is wrong with an input, and where: `at` is a JSON pointer. */
export interface InputProblem {
  readonly at: string;
  readonly message: string;
}

/** An input as it was typed. */
export interface TypedInput {
  readonly value: Json | undefined;
  readonly problems: readonly InputProblem[];
}

/** Reads an input and checks it as the hub will, if the schema is known. */
export function checkInput(text: string, schema: unknown): TypedInput {
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    return { value: undefined, problems: [{ at: "", message: WaybillError.from(error).message }] };
  }
  if (schema === undefined) return { value, problems: [] };
  try {
    return { value, problems: compileSchema(schema).check(value) };
  } catch (error) {
    const { message } = WaybillError.from(error);
    return { value, problems: [{ at: "", message: `Its schema can't be used: ${message}` }] };
  }
}

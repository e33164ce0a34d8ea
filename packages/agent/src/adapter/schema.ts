import { compileSchema } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";

/** What is wrong with a value; undefined if it matches. */
export function faultOf(value: Json, schema: JsonSchema): string | undefined {
  const [issue] = compileSchema(schema).check(value);
  return issue && `${issue.at === "" ? "the value" : issue.at}: ${issue.message}`;
}

/** Whether a reply in words is a valid answer as it stands. */
export function takesText(schema: JsonSchema): boolean {
  return faultOf("words", schema) === undefined;
}

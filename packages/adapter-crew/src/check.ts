import { filesIn, readOutput, textOf } from "@waybill/agent/adapter";
import { compileSchema } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";
import type { Task, TaskOutcome } from "./crew.ts";
import type { Delivery } from "./member.ts";

/** What was delivered, and by whom. */
export type Delivered = Delivery & Pick<TaskOutcome, "by" | "failures">;

/** A delivery as the outcome of its task, and what is wrong with it. */
export async function checked(
  { name, guardrails = [] }: Task,
  form: JsonSchema,
  { by, failures, ...delivery }: Delivered,
): Promise<{ readonly outcome: TaskOutcome; readonly fault?: string | undefined }> {
  const { messages = [] } = delivery;
  // Later tasks get briefs and files, and no messages.
  const artifacts = filesIn(messages, delivery.artifacts);
  const said = saidIn(delivery);
  const read = readSaid(said, form, artifacts.length > 0);
  const output = "output" in read ? read.output : said;
  const outcome = { task: name, by, output, messages, artifacts, failures };
  if ("fault" in read) return { outcome, fault: read.fault };
  for (const guardrail of guardrails) {
    const fault = await guardrail(outcome);
    if (fault !== undefined) return { outcome, fault };
  }
  return { outcome };
}

/** The output, or the last words. */
export function saidIn({ output, messages = [] }: Delivery): Json | undefined {
  if (output !== undefined) return output;
  const last = messages.findLast((each) => each.role === "assistant" && textOf(each).trim() !== "");
  return last && textOf(last);
}

function readSaid(
  said: Json | undefined,
  form: JsonSchema,
  hasFiles: boolean,
): { readonly output: Json | undefined } | { readonly fault: string } {
  // Files alone are an outcome if no form was asked for.
  if (said === undefined && hasFiles && form === true) return { output: undefined };
  if (said === undefined || typeof said === "string") return readOutput(said ?? "", form);
  const [issue] = compileSchema(form).check(said);
  return issue === undefined
    ? { output: said }
    : { fault: `${issue.at === "" ? "the value" : issue.at}: ${issue.message}` };
}

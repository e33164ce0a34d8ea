import { briefOf, markedAsData, mediaIn, mediaInWords } from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Brief, Json, JsonSchema } from "@waybill/protocol";
import type { Task, TaskOutcome } from "./crew.ts";

/** What a task needs besides its own words. */
export interface About {
  readonly request: PortableWork;
  readonly context: readonly TaskOutcome[];
  readonly form: JsonSchema;
  /** An earlier delivery that was rejected, and why. */
  readonly unusable: Unusable | undefined;
}

export interface Unusable {
  readonly outcome: TaskOutcome;
  readonly fault: string;
}

/** A task described for a member who knows nothing else. */
export function briefOfTask({ description, expectedOutput }: Task, about: About): Brief {
  const { request, context, form, unusable } = about;
  const instruction = [
    description,
    ...requestIn(request),
    ...context.map((outcome) =>
      [`What the task ${outcome.task} has come to:`, toldOf(outcome)].join("\n"),
    ),
    ...(unusable === undefined ? [] : [askedAgain(unusable)]),
  ].join("\n\n");
  return briefOf({ brief: { instruction, expected_output: expectedOutput } }, form);
}

/** The outcome of a task, with the names of its files, which go along. */
function toldOf({ by, output = null, artifacts, messages }: TaskOutcome): string {
  const files = artifacts.map(({ name }) => name);
  const elsewhere = messages.flatMap(mediaIn).filter(({ url }) => url !== undefined);
  const named = [...files, ...elsewhere.map(mediaInWords)];
  return markedAsData(by, named.length === 0 ? output : { output, files: named });
}

/** The history of the request goes along as it is, and is not repeated. */
function requestIn({ input, brief }: PortableWork): string[] {
  if (input === undefined && brief === undefined) return [];
  const { instruction, expected_output: expected } = briefOf({
    ...(input === undefined ? {} : { input }),
    ...(brief === undefined ? {} : { brief }),
  });
  return [
    `What the crew was asked for:\n${instruction}`,
    ...(expected === undefined ? [] : [`What the crew is to come to: ${expected}`]),
  ];
}

function askedAgain({ outcome: { by, output = null }, fault }: Unusable): string {
  const said: Json = output;
  return [`What was delivered before can't be used: ${fault}`, markedAsData(by, said)].join("\n");
}

import { WaybillError } from "@waybill/protocol";
import type { CapabilityInput, Json } from "@waybill/protocol";
import type {
  CapabilityDeclaration,
  QuestionSchemas,
  ReadInputOf,
  ReturnOf,
} from "../capability/capability.ts";
import type { JsonLike } from "../capability/json-like.ts";
import { describeFaults, readWith } from "../capability/standard-schema.ts";
import type { SchemaOutput, StandardSchema } from "../capability/standard-schema.ts";
import { resultIn, returnedResult } from "./outcome.ts";
import type { FullResult, Returned } from "./outcome.ts";
import type { Ask, Handler, Work } from "./work.ts";

/** One attempt at a declared capability, as its handler sees it. */
export type DeclaredWork<Declaration extends CapabilityDeclaration> = Omit<
  Work<ReadInputOf<Declaration>>,
  "ask" | "pause" | "result"
> & {
  /** `return work.result(…)`: for messages, artifacts and effects besides the output. */
  result(
    result: Declaration["output"] extends StandardSchema
      ? FullResult<ReturnOf<Declaration>> & { readonly output: ReturnOf<Declaration> }
      : FullResult,
  ): Returned;
} & (Declaration["questions"] extends QuestionSchemas
    ? DeclaredAsking<Declaration["questions"]>
    : Pick<Work, "ask" | "pause">);

/** How a handler asks the questions that its capability declares. */
export interface DeclaredAsking<Questions extends QuestionSchemas> {
  /**
   * Asks one of the declared questions, and waits for the answer, parsed by its schema. A question
   * that was answered in an earlier attempt is not asked again. An answer that breaks the schema is a
   * 422.
   *
   * @example
   * ```ts
   * const language = await ask("language", "Which language shall it be in?");
   * ```
   */
  ask<Name extends keyof Questions & string>(
    name: Name,
    question?: DeclaredAsk | string,
  ): Promise<SchemaOutput<Questions[Name]>>;
  /**
   * `return work.pause(…)`: ends the attempt until everything is answered. In the next one `ask`
   * returns the answers at once.
   */
  pause(
    questions:
      | (keyof Questions & string)
      | { readonly [Name in keyof Questions & string]?: DeclaredAsk | string },
    state: string,
  ): Returned;
}

/** A declared question as one asks it. */
export interface DeclaredAsk extends Pick<Ask<JsonLike>, "text" | "data"> {
  /** Distinguishes several questions under one name. By default they are numbered. */
  readonly part?: string | undefined;
}

/**
 * The type of a handler of a declared capability, for one in a file of its own.
 *
 * @example
 * ```ts
 * export const summarize: DeclaredHandler<typeof research> = async ({ input }) => ({
 *   summary: await summaryOf(input.topic),
 * });
 * ```
 */
export type DeclaredHandler<Declaration extends CapabilityDeclaration> = (
  work: DeclaredWork<Declaration>,
) => Promise<ReturnOf<Declaration> | Returned> | ReturnOf<Declaration> | Returned;

/** What can be served: a declared capability, a name, or a capability as in a manifest. */
export type Servable = string | CapabilityInput | CapabilityDeclaration;

// One signature and no overloads: TypeScript explains only the last overload, whichever was meant.
/** The handler of what is served. Without a declaration `Input` is stated by the caller. */
export type HandlerOf<Offered extends Servable, Input = Json> = [Offered] extends [
  CapabilityDeclaration,
]
  ? DeclaredHandler<Offered>
  : Handler<Input>;

/** The parsed input, or why it is refused. */
export async function inputAs(
  { name, input: schema }: CapabilityDeclaration,
  input: Json | undefined,
): Promise<{ readonly input: unknown; readonly reason?: undefined } | { readonly reason: string }> {
  if (schema === undefined) return { input };
  if (input === undefined) return { reason: `${name} needs an input, and there is none.` };
  const read = await readWith(schema, input);
  if (read.faults === undefined) return { input: read.value };
  return { reason: `The input breaks the schema of ${name}: ${describeFaults(read.faults)}` };
}

/** Wraps a handler so that its questions are asked, and its output is checked, by the declaration. */
export function handlerAs(
  capability: CapabilityDeclaration,
  handler: (work: never) => unknown,
): Handler<unknown> {
  return async (work) => {
    const value = await handler(declaredWork(capability, work) as never);
    return outputAs(capability, value);
  };
}

async function outputAs(
  { name, output: schema }: CapabilityDeclaration,
  value: unknown,
): Promise<Json | Returned> {
  const full = resultIn(value);
  if (schema === undefined || full === undefined) return value as Json | Returned;
  const read = await readWith(schema, full.output);
  if (read.faults === undefined) return returnedResult({ ...full, output: read.value as Json });
  throw new WaybillError(
    520,
    `The output violates the schema of ${name}: ${describeFaults(read.faults)}`,
    { at: read.faults[0]?.at },
  );
}

function declaredWork(capability: CapabilityDeclaration, work: Work<unknown>): object {
  const { name: of, questions, questionSchemas } = capability;
  if (questions === undefined) return work;
  const counts = new Map<string, number>();

  function asked(name: string, question: DeclaredAsk | string = {}): Ask<JsonLike> {
    if (!Object.hasOwn(questions!, name)) {
      throw new WaybillError(
        500,
        `${of} does not declare the question ${JSON.stringify(name)}; it declares ${Object.keys(questions!).join(", ")}.`,
      );
    }
    const { part, ...rest } = typeof question === "string" ? { text: question } : question;
    const count = (counts.get(name) ?? 0) + (part === undefined ? 1 : 0);
    counts.set(name, count);
    const suffix = part ?? (count > 1 ? String(count) : undefined);
    const id = suffix === undefined ? name : `${name}/${suffix}`;
    return { ...rest, id, schema: questionSchemas[name] as Json };
  }

  return {
    ...work,
    ask: async (name: string, question?: DeclaredAsk | string) => {
      const { id, ...rest } = asked(name, question);
      const answer = await work.ask({ id, ...rest });
      const read = await readWith(questions[name]!, answer);
      if (read.faults === undefined) return read.value;
      throw new WaybillError(
        422,
        `The answer to ${id} violates its schema: ${describeFaults(read.faults)}`,
        { at: read.faults[0]?.at },
      );
    },
    pause: (given: string | { readonly [name: string]: DeclaredAsk | string }, state: string) =>
      work.pause(
        typeof given === "string"
          ? asked(given)
          : Object.entries(given).map(([name, question]) => asked(name, question)),
        state,
      ),
  };
}

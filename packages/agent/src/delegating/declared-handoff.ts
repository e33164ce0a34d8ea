import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { wantedVersion } from "../capability/capability.ts";
import type { CapabilityDeclaration, QuestionSchemas } from "../capability/capability.ts";
import { describeFaults, readWith } from "../capability/standard-schema.ts";
import type { StandardSchema } from "../capability/standard-schema.ts";
import type { HandoffResult } from "./ending.ts";
import type { QuestionEvent } from "./events.ts";
import type { HandoffHandle, QuestionOf } from "./handoff-handle.ts";
import type { CheckedOptions, HandoffOptions } from "./options.ts";

type Declared = HandoffHandle<unknown, QuestionSchemas>;

/** A handoff to a declared capability. Input that violates its schema is not sent. */
export function declaredHandoff(
  capability: CapabilityDeclaration,
  options: Partial<HandoffOptions<unknown>>,
): CheckedOptions {
  const checked = checkInput(capability, options.input);
  // The handle reports a refusal. There is none if the handoff is refused for another reason.
  checked.catch(() => undefined);
  return {
    ...(options as Omit<HandoffOptions, "capability">),
    capability: capability.name,
    version: options.version ?? wantedVersion(capability),
    checked,
  };
}

async function checkInput(
  { name, input: schema }: CapabilityDeclaration,
  input: unknown,
): Promise<void> {
  if (schema === undefined) return;
  const { faults } = await readWith(schema, input);
  if (faults === undefined) return;
  throw new WaybillError(
    422,
    `The input for ${name} was not sent, because it violates its schema: ${describeFaults(faults)}`,
    { at: faults[0]?.at },
  );
}

/** A handle that parses results and questions by the capability's declaration. */
export function declaredHandle(capability: CapabilityDeclaration, handle: HandoffHandle): Declared {
  return new DeclaredHandle(capability, handle);
}

class DeclaredHandle implements Declared {
  readonly #capability: CapabilityDeclaration;
  readonly #handle: HandoffHandle;
  #result: Promise<HandoffResult<unknown>> | undefined;

  constructor(capability: CapabilityDeclaration, handle: HandoffHandle) {
    this.#capability = capability;
    this.#handle = handle;
  }

  get id(): string {
    return this.#handle.id;
  }

  get envelope(): HandoffHandle["envelope"] {
    return this.#handle.envelope;
  }

  get text(): string {
    return this.#handle.text;
  }

  get digest(): HandoffHandle["digest"] {
    return this.#handle.digest;
  }

  get custody(): HandoffHandle["custody"] {
    return this.#handle.custody;
  }

  get accepted(): HandoffHandle["accepted"] {
    return this.#handle.accepted;
  }

  get hasEnded(): boolean {
    return this.#handle.hasEnded;
  }

  get usage(): HandoffHandle["usage"] {
    return this.#handle.usage;
  }

  get progress(): HandoffHandle["progress"] {
    return this.#handle.progress;
  }

  get deltas(): HandoffHandle["deltas"] {
    return this.#handle.deltas;
  }

  get result(): Promise<HandoffResult<unknown>> {
    if (this.#result === undefined) {
      this.#result = this.#handle.result.then((result) => this.#read(result));
      // Like every stage, it fails silently if nobody awaits it.
      this.#result.catch(() => undefined);
    }
    return this.#result;
  }

  get questions(): AsyncIterable<QuestionOf<QuestionSchemas>> {
    const { questions = {} } = this.#capability;
    const asked = this.#handle.questions;
    return {
      async *[Symbol.asyncIterator]() {
        for await (const question of asked) yield named(question, questions);
      },
    };
  }

  readonly answer = async (
    question: string | { readonly id: string; readonly name: string | undefined },
    answer: unknown,
  ): Promise<void> => {
    const { id, name } = typeof question === "string" ? { id: question, name: question } : question;
    const schema = name === undefined ? undefined : this.#schemaOf(name);
    const { faults } = schema === undefined ? {} : await readWith(schema, answer);
    if (faults !== undefined) {
      throw new WaybillError(
        422,
        `The answer to ${id} was not sent, because it violates its schema: ${describeFaults(faults)}`,
        { at: faults[0]?.at },
      );
    }
    await this.#handle.answer(id, answer as Json);
  };

  cancel(reason?: string): Promise<boolean> {
    return this.#handle.cancel(reason);
  }

  acknowledge(): Promise<void> {
    return this.#handle.acknowledge();
  }

  async #read(result: HandoffResult): Promise<HandoffResult<unknown>> {
    const { name, output: schema } = this.#capability;
    if (schema === undefined) return result;
    const read = await readWith(schema, result.output);
    if (read.faults === undefined) return { ...result, output: read.value };
    const { by, attempt, messages, artifacts } = result;
    throw new WaybillError(
      520,
      `The output of ${by} for ${name} violates the output schema: ${describeFaults(read.faults)}`,
      {
        at: read.faults[0]?.at,
        cause: { output: result.output, by, attempt, messages, artifacts },
      },
    );
  }

  #schemaOf(name: string): StandardSchema | undefined {
    const { questions = {} } = this.#capability;
    return Object.hasOwn(questions, name) ? questions[name] : undefined;
  }
}

/** An id is the question's name, or begins with the name and a slash. */
function named(question: QuestionEvent, questions: QuestionSchemas): QuestionOf<QuestionSchemas> {
  const [name = ""] = question.id.split("/", 1);
  return { ...question, name: Object.hasOwn(questions, name) ? name : undefined };
}

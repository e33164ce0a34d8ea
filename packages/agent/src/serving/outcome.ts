import { compileSchema, WaybillError } from "@waybill/protocol";
import type {
  AskedQuestion,
  Capability,
  CompiledSchema,
  Effects,
  Json,
  Message,
  ResultBody,
} from "@waybill/protocol";
import type { GivenArtifact } from "../artifacts/given.ts";
import type { JsonLike } from "../capability/json-like.ts";

/** A result with more than its output. */
export interface FullResult<Output = JsonLike> {
  /** The output of the work. */
  readonly output?: Output | undefined;
  /** What was said, as turns of a conversation. */
  readonly messages?: Message[] | undefined;
  /**
   * Files to send along, as bytes, by path, or as a stream. Large ones are uploaded before the result
   * is sent.
   */
  readonly artifacts?: readonly GivenArtifact[] | undefined;
  /** Whether the work has had effects outside. */
  readonly effects?: Effects | undefined;
}

/** The body of a result, before files that are too large for its envelope are uploaded. */
export type GivenResult = Omit<ResultBody, "artifacts"> & {
  readonly artifacts?: readonly GivenArtifact[] | undefined;
};

const RESULT: unique symbol = Symbol("result");
const PAUSE: unique symbol = Symbol("pause");

/** What a handler returns through `work.result(…)` or `work.pause(…)`. */
export interface Returned {
  readonly [RESULT]?: FullResult;
  readonly [PAUSE]?: { readonly questions: readonly AskedQuestion[]; readonly state: string };
}

export function returnedResult(result: FullResult): Returned {
  return { [RESULT]: result };
}

export function returnedPause(questions: readonly AskedQuestion[], state: string): Returned {
  return { [PAUSE]: { questions, state } };
}

/** What a handler has returned as a result; undefined if it has paused. */
export function resultIn(value: unknown): FullResult | undefined {
  return isReturned(value) ? value[RESULT] : { output: value as JsonLike };
}

export function pauseOf(value: unknown): Returned[typeof PAUSE] {
  return isReturned(value) ? value[PAUSE] : undefined;
}

function isReturned(value: unknown): value is Returned {
  return typeof value === "object" && value !== null && (RESULT in value || PAUSE in value);
}

/** The body of a success, or of a 520 if the success is empty or not what was promised. */
export function resultOf(value: unknown, schema: Capability["output_schema"]): GivenResult {
  const { output: given, messages, artifacts, effects } = resultIn(value)!;
  const output = given as Json | undefined;
  const carriesMore = (messages?.length ?? 0) > 0 || (artifacts?.length ?? 0) > 0;
  if (!carriesMore && isEmpty(output, isOpen(schema))) {
    throw new WaybillError(
      520,
      "The handler returned no output. An empty success counts as an error: return the output, or throw an error.",
    );
  }
  if (output !== undefined) {
    const [issue] = compiled(schema).check(output);
    if (issue !== undefined) {
      throw new WaybillError(
        520,
        `The output violates its schema${issue.at && ` at ${issue.at}`}: ${issue.message}`,
        { at: issue.at },
      );
    }
  }
  return { status: 200, output, messages, artifacts, effects };
}

const schemas = new WeakMap<object, CompiledSchema>();

/** One validator for all results of a capability. */
function compiled(schema: Capability["output_schema"]): CompiledSchema {
  if (typeof schema !== "object") return compileSchema(schema);
  let known = schemas.get(schema);
  if (known === undefined) schemas.set(schema, (known = compileSchema(schema)));
  return known;
}

/** If a schema explicitly allows it, null or an empty string is an answer. */
function isEmpty(output: Json | undefined, isSchemaOpen: boolean): boolean {
  if (output === undefined) return true;
  const isBlank = output === null || (typeof output === "string" && output.trim() === "");
  return isBlank && isSchemaOpen;
}

function isOpen(schema: Capability["output_schema"]): boolean {
  return schema === true || (typeof schema === "object" && Object.keys(schema).length === 0);
}

/** The body of a failure: the original message and its causes, as far as JSON can represent them. */
export function failureOf(thrown: unknown, effects: Effects): ResultBody {
  const error = WaybillError.from(thrown);
  const status = error.status >= 400 ? error.status : 500;
  const isFlagged = WaybillError.is(thrown);
  return {
    status,
    error: {
      message: error.message.toWellFormed(),
      ...(isFlagged ? { retryable: error.retryable } : {}),
      ...(error.retryAfterMs === undefined ? {} : { retry_after_ms: error.retryAfterMs }),
      ...(error.cause === undefined ? {} : { cause: causeOf(error.cause, 0) }),
    },
    effects: effects === "none" ? "none" : "possible",
  };
}

const CAUSES_DEEP = 5;

function causeOf(cause: unknown, depth: number): Json {
  if (!(cause instanceof Error)) return String(cause).slice(0, 2000).toWellFormed();
  const { name, message } = cause;
  const code = (cause as { code?: unknown }).code;
  const own: { [member: string]: Json } = { name, message: message.toWellFormed() };
  if (typeof code === "string" || typeof code === "number") own.code = code;
  if (cause.cause !== undefined && depth < CAUSES_DEEP) own.cause = causeOf(cause.cause, depth + 1);
  return own;
}

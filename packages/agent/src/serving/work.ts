import type {
  AskedQuestion,
  HandoffBody,
  HandoffEnvelope,
  Json,
  UsageRow,
} from "@waybill/protocol";
import type { ReceivedArtifact } from "../artifacts/received.ts";
import type { JsonCompatible, JsonLike } from "../capability/json-like.ts";
import type { Delegator } from "../delegating/delegator.ts";
import type { FullResult, Returned } from "./outcome.ts";
import type { WorkSession } from "./session.ts";

/** A question as one asks it. Without an id it is the n-th question of this agent. */
export type Ask<Data = Json> = Omit<AskedQuestion, "id" | "data"> & {
  readonly id?: string | undefined;
  readonly data?: Data | undefined;
};

/** Where an earlier attempt has paused, and what was answered. */
export interface Resume {
  /** What the earlier attempt has left behind. */
  readonly state: string;
  /** What it has asked. */
  readonly questions: readonly AskedQuestion[];
  /** What was answered, by the ids of the questions. */
  readonly answers: ReadonlyMap<string, Json>;
}

/** The body of a handoff, with ways to the bytes of its files. */
export type ReceivedBody = Omit<HandoffBody, "artifacts"> & {
  readonly artifacts?: ReceivedArtifact[] | undefined;
};

/** How far the work is: in words, as a share from 0 to 1, or as data. */
export interface Progress<Data = JsonLike> {
  /** In words. */
  readonly message?: string | undefined;
  /** How much is done, from 0 to 1. */
  readonly fraction?: number | undefined;
  /** Whatever else there is to say. */
  readonly data?: Data | undefined;
}

/**
 * One attempt, as its handler sees it. What the handler hands off with `handoff` and `handoffAll` is
 * part of the same job and trace, and ends no later.
 */
export interface Work<Input = Json> extends Delegator {
  /** The agent that does it. */
  readonly agent: string;
  /** What the work is given. */
  readonly input: Input;
  /** All that was handed off: input, brief, messages, artifacts and contract. */
  readonly body: ReceivedBody;
  /**
   * Files that came along. Those that lie at the hub are read when their bytes are asked for.
   *
   * @example
   * ```ts
   * for (const artifact of work.artifacts) await artifact.save(join(folder, basename(artifact.name)));
   * ```
   */
  readonly artifacts: readonly ReceivedArtifact[];
  /** The handoff as its delegator signed it. */
  readonly envelope: HandoffEnvelope;
  /** The idempotency key of the work: the same in every attempt. Give it to what has effects. */
  readonly handoffId: string;
  /** Which try this is, counted from 1. */
  readonly attempt: number;
  /** When the work has to be done. */
  readonly deadline: Date;
  /** Aborted when the work is not wanted any more; its reason is a WaybillError. */
  readonly signal: AbortSignal;
  /** Present where the handoff names a session. */
  readonly session: WorkSession | undefined;
  /** Present where an earlier attempt has paused. */
  readonly resume: Resume | undefined;
  /**
   * Tells the delegator how it goes. Every progress is signed and on record.
   *
   * @example
   * ```ts
   * await progress({ message: "reading", fraction: 0.25 });
   * ```
   */
  progress<Data = JsonLike>(progress: Progress<Data & JsonCompatible<Data>>): Promise<void>;
  /**
   * Shows the delegator what is being written, as it is written: the tokens of a model. What comes
   * in quick succession is sent together, unsigned, at most once, and is never on record: the result
   * has to hold the whole text.
   *
   * @example
   * ```ts
   * for await (const chunk of stream) delta(chunk.text);
   * ```
   */
  delta(text: string): void;
  /**
   * Asks, and waits for the answer. A question that an earlier attempt had answered is not asked
   * again. `ask<string>(…)` says what the answer will be; a declared question is checked, too.
   */
  ask<Answer = Json>(question: Ask<JsonLike> | string): Promise<Answer>;
  /** `return work.pause(…)`: ends the attempt until all is answered; the next one has the state. */
  pause(questions: readonly Ask<JsonLike>[] | Ask<JsonLike> | string, state: string): Returned;
  /**
   * Adds to what the attempt has used, and its result says so, a failure's too. What children have
   * used is added without it.
   *
   * @example
   * ```ts
   * work.addUsage({
   *   model: "gpt-5",
   *   requests: 1,
   *   input_tokens: 1200,
   *   output_tokens: 80,
   *   cost: { amount: "0.0042", currency: "USD" },
   * });
   * ```
   */
  addUsage(row: UsageRow): void;
  /** `return work.result(…)`: for messages, artifacts and effects next to the output. */
  result(result: FullResult): Returned;
}

/**
 * Does the work of a capability. What it returns is the output. What a schema in a manifest lets in
 * is not what TypeScript can know: the handler says what its input is, or `capability` declares it.
 *
 * @example
 * ```ts
 * const translate: Handler<string> = async ({ input, signal }) => translation(input, { signal });
 * ```
 */
export type Handler<Input = Json> = (
  work: Work<Input>,
) => Promise<JsonLike | Returned> | JsonLike | Returned;

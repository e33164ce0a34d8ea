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

/** A question to ask. Without an id it is the n-th question of this agent. */
export type Ask<Data = Json> = Omit<AskedQuestion, "id" | "data"> & {
  readonly id?: string | undefined;
  readonly data?: Data | undefined;
};

/** Where an earlier attempt has paused, and the answers since. */
export interface Resume {
  /** The state that the earlier attempt has saved. */
  readonly state: string;
  /** The questions that it has asked. */
  readonly questions: readonly AskedQuestion[];
  /** The answers, by question id. */
  readonly answers: ReadonlyMap<string, Json>;
}

/** The body of a handoff, with methods to read its files. */
export type ReceivedBody = Omit<HandoffBody, "artifacts"> & {
  readonly artifacts?: ReceivedArtifact[] | undefined;
};

/** How far the work is: as text, as a fraction from 0 to 1, or as data. */
export interface Progress<Data = JsonLike> {
  /** As text. */
  readonly message?: string | undefined;
  /** How much is done, from 0 to 1. */
  readonly fraction?: number | undefined;
  /** Any further data. */
  readonly data?: Data | undefined;
}

/**
 * One attempt, as its handler sees it. What the handler hands off with `handoff` and `handoffAll`
 * belongs to the same job and trace, and ends no later.
 */
export interface Work<Input = Json> extends Delegator {
  /** The agent that works on it. */
  readonly agent: string;
  /** The input of the work. */
  readonly input: Input;
  /** Everything that was handed off: input, brief, messages, artifacts and contract. */
  readonly body: ReceivedBody;
  /**
   * Files that came with the handoff. Those that are stored at the hub are read on demand.
   *
   * @example
   * ```ts
   * for (const artifact of work.artifacts) await artifact.save(join(folder, basename(artifact.name)));
   * ```
   */
  readonly artifacts: readonly ReceivedArtifact[];
  /** The handoff as its delegator signed it. */
  readonly envelope: HandoffEnvelope;
  /** The idempotency key of the work: the same in every attempt. Pass it to everything that has effects. */
  readonly handoffId: string;
  /** The number of this attempt, counted from 1. */
  readonly attempt: number;
  /** When the work has to be done. */
  readonly deadline: Date;
  /** Aborted when the work is not wanted any more; its reason is a WaybillError. */
  readonly signal: AbortSignal;
  /** Present if the handoff names a session. */
  readonly session: WorkSession | undefined;
  /** Present if an earlier attempt has paused. */
  readonly resume: Resume | undefined;
  /**
   * Reports progress to the delegator. Every report is signed and on record.
   *
   * @example
   * ```ts
   * await progress({ message: "reading", fraction: 0.25 });
   * ```
   */
  progress<Data = JsonLike>(progress: Progress<Data & JsonCompatible<Data>>): Promise<void>;
  /**
   * Shows the delegator what is being written, as it is written: the tokens of a model. Pieces in
   * quick succession are sent together, unsigned, at most once, and are never on record: the result
   * has to contain the whole text.
   *
   * @example
   * ```ts
   * for await (const chunk of stream) delta(chunk.text);
   * ```
   */
  delta(text: string): void;
  /**
   * Asks, and waits for the answer. A question that was answered in an earlier attempt is not asked
   * again. `ask<string>(…)` states the type of the answer; a declared question is checked, too.
   */
  ask<Answer = Json>(question: Ask<JsonLike> | string): Promise<Answer>;
  /** `return work.pause(…)`: ends the attempt until everything is answered; the next one has the state. */
  pause(questions: readonly Ask<JsonLike>[] | Ask<JsonLike> | string, state: string): Returned;
  /**
   * Adds to the usage of the attempt, which its result or failure reports. The usage of children is
   * added automatically.
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
  /** `return work.result(…)`: for messages, artifacts and effects besides the output. */
  result(result: FullResult): Returned;
}

/**
 * Does the work of a capability. What it returns is the output. TypeScript can't derive a type from a
 * schema in a manifest: the handler states the type of its input, or `capability` declares it.
 *
 * @example
 * ```ts
 * const translate: Handler<string> = async ({ input, signal }) => translation(input, { signal });
 * ```
 */
export type Handler<Input = Json> = (
  work: Work<Input>,
) => Promise<JsonLike | Returned> | JsonLike | Returned;

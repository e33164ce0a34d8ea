import type { Digest, HandoffEnvelope, Json } from "@waybill/protocol";
import type { QuestionSchemas } from "../capability/capability.ts";
import type { JsonCompatible } from "../capability/json-like.ts";
import type { SchemaInput } from "../capability/standard-schema.ts";
import type { HandoffResult } from "./ending.ts";
import type { DeltaEvent, ProgressEvent, QuestionEvent, Receipt } from "./events.ts";
import type { HandoffUsage } from "./usage.ts";

/**
 * One handoff, seen by who made it. Each stage can be awaited on its own. `Output` is what its result
 * holds, and `Questions` what its recipient may ask, where its capability was declared.
 *
 * @example
 * ```ts
 * const handoff = agent.handoff(research, { input: { topic: "waybills" } });
 * await handoff.custody; // the hub has it on disk
 * await handoff.accepted; // a recipient has signed for it
 * const { output, by } = await handoff.result;
 * ```
 */
export interface HandoffHandle<
  Output = Json | undefined,
  Questions extends QuestionSchemas | undefined = undefined,
> {
  /** The handoff's id; another one after a counter-offer was taken. */
  readonly id: string;
  /**
   * The handoff. Until it is in custody, one made earlier under the same id may take its place, and
   * files that are given by a path or a stream are not in it yet; after a counter-offer was taken it is
   * the one on those terms.
   */
  readonly envelope: HandoffEnvelope;
  /** The handoff as it was signed. There once it is in custody. */
  readonly text: string;
  /** Digest of `text`: what the recipient's acceptance and result name. */
  readonly digest: Digest;
  /** The hub has it on disk, and has signed for it. */
  readonly custody: Promise<Receipt>;
  /** A recipient has signed for exactly this handoff. */
  readonly accepted: Promise<Receipt>;
  /**
   * The result, or the WaybillError with which the handoff ended. Whatever the hub does, it is not
   * waited for longer than a second past the deadline: then it is a 504, as are the other stages, and
   * `hasEnded` is false. The work may have been done: `attach` asks the hub again.
   */
  readonly result: Promise<HandoffResult<Output>>;
  /** Whether its end is known here. What fails before that is this agent or its hub, and the handoff goes on. */
  readonly hasEnded: boolean;
  /** What it has used, where its recipient says so. There once it has ended, a failure included. */
  readonly usage: HandoffUsage | undefined;
  /** What the recipient says on its way. Ends with the handoff. */
  readonly progress: AsyncIterable<ProgressEvent>;
  /**
   * What the recipient is writing, in pieces, for showing while it works: unsigned, at most once, and
   * never on record. Pieces are kept from the first time that this is read. Ends with the handoff.
   */
  readonly deltas: AsyncIterable<DeltaEvent>;
  /** What the recipient asks. Ends with the handoff. */
  readonly questions: AsyncIterable<QuestionOf<Questions>>;
  /** Answers a question. A second answer changes nothing: it is refused with 410. */
  readonly answer: Answer<Questions>;
  /** False where it had ended before, which the result then tells. */
  cancel(reason?: string): Promise<boolean>;
  /** Tells the hub that the end is where it belongs, so that it is not delivered again. */
  acknowledge(): Promise<void>;
}

/**
 * A question as it is read from a handle: `name` says which of the declared questions it is, and so
 * what an answer to it may be. It is undefined for one that the capability does not declare.
 */
export type QuestionOf<Questions extends QuestionSchemas | undefined> =
  Questions extends QuestionSchemas
    ?
        | { [Name in keyof Questions & string]: AskedEvent<Name> }[keyof Questions & string]
        | AskedEvent<undefined>
    : QuestionEvent;

type AskedEvent<Name> = QuestionEvent & { readonly name: Name };

/** How a question is answered: by its id, or, where it is declared, by itself or by its name. */
export type Answer<Questions extends QuestionSchemas | undefined> =
  Questions extends QuestionSchemas ? DeclaredAnswer<Questions> : PlainAnswer;

type PlainAnswer = <Given>(
  questionId: string,
  answer: Given & JsonCompatible<Given>,
) => Promise<void>;

interface DeclaredAnswer<Questions extends QuestionSchemas> {
  <Name extends keyof Questions & string>(
    question: Name | AskedEvent<Name>,
    answer: SchemaInput<Questions[Name]>,
  ): Promise<void>;
  <Given>(question: AskedEvent<undefined>, answer: Given & JsonCompatible<Given>): Promise<void>;
}

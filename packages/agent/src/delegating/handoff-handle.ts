import type { Digest, HandoffEnvelope, Json } from "@waybill/protocol";
import type { QuestionSchemas } from "../capability/capability.ts";
import type { JsonCompatible } from "../capability/json-like.ts";
import type { SchemaInput } from "../capability/standard-schema.ts";
import type { HandoffResult } from "./ending.ts";
import type { DeltaEvent, ProgressEvent, QuestionEvent, Receipt } from "./events.ts";
import type { HandoffUsage } from "./usage.ts";

/**
 * One handoff, as its delegator holds it. Each stage can be awaited separately. `Output` is the type
 * of its result, and `Questions` the questions that its recipient may ask, if its capability was
 * declared.
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
  /** The handoff's id; another one after a counter-offer was accepted. */
  readonly id: string;
  /**
   * The handoff. Until it is in custody, an earlier one with the same id may take its place, and files
   * given by path or stream are not in it yet; after an accepted counter-offer it is the handoff on
   * those terms.
   */
  readonly envelope: HandoffEnvelope;
  /** The handoff as it was signed. Available once it is in custody. */
  readonly text: string;
  /** Digest of `text`, which the recipient's acceptance and result name. */
  readonly digest: Digest;
  /** The hub has the handoff on disk, and has signed for it. */
  readonly custody: Promise<Receipt>;
  /** A recipient has accepted exactly this handoff, with a signature. */
  readonly accepted: Promise<Receipt>;
  /**
   * The result; rejects with the WaybillError with which the handoff ended. Whatever the hub does, the
   * wait ends a second past the deadline: then this stage and the others reject with 504, and
   * `hasEnded` is false. The work may have been done: `attach` asks the hub again.
   */
  readonly result: Promise<HandoffResult<Output>>;
  /**
   * Whether its end is known here. Earlier failures concern this agent or its hub, and the handoff
   * goes on.
   */
  readonly hasEnded: boolean;
  /** What it has used, if its recipient reports it. Available once it has ended, also with a failure. */
  readonly usage: HandoffUsage | undefined;
  /** The recipient's progress. Ends with the handoff. */
  readonly progress: AsyncIterable<ProgressEvent>;
  /**
   * What the recipient is writing, in pieces, for display while it works: unsigned, at most once, and
   * never on record. Pieces are kept from the first access on. Ends with the handoff.
   */
  readonly deltas: AsyncIterable<DeltaEvent>;
  /** The recipient's questions. Ends with the handoff. */
  readonly questions: AsyncIterable<QuestionOf<Questions>>;
  /** Answers a question. A second answer is refused with 410 and changes nothing. */
  readonly answer: Answer<Questions>;
  /** False if it had ended before; the result says how. */
  cancel(reason?: string): Promise<boolean>;
  /** Tells the hub that the end was processed, so that it is not delivered again. */
  acknowledge(): Promise<void>;
}

/**
 * A question read from a handle. `name` says which declared question it is, and so the type of its
 * answer. It is undefined for a question that the capability does not declare.
 */
export type QuestionOf<Questions extends QuestionSchemas | undefined> =
  Questions extends QuestionSchemas
    ?
        | { [Name in keyof Questions & string]: AskedEvent<Name> }[keyof Questions & string]
        | AskedEvent<undefined>
    : QuestionEvent;

type AskedEvent<Name> = QuestionEvent & { readonly name: Name };

/** How to address a question: by its id, or, if it is declared, by the question itself or its name. */
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

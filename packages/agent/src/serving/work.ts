import type {
  AskedQuestion,
  HandoffBody,
  HandoffEnvelope,
  Json,
  ProgressBody,
} from "@waybill/protocol";
import type { HandoffHandle } from "../delegating/handle.ts";
import type { HandoffOptions } from "../delegating/options.ts";
import type { FullResult, Returned } from "./outcome.ts";

/** A question as one asks it. Without an id it is the n-th question of this agent. */
export type Ask = Omit<AskedQuestion, "id"> & { readonly id?: string | undefined };

/** Where an earlier attempt has paused, and what was answered. */
export interface Resume {
  readonly state: string;
  readonly questions: readonly AskedQuestion[];
  readonly answers: ReadonlyMap<string, Json>;
}

/** One attempt, as its handler sees it. */
export interface Work<Input = Json> {
  /** The agent that does it. */
  readonly agent: string;
  readonly input: Input;
  readonly body: HandoffBody;
  readonly envelope: HandoffEnvelope;
  /** The idempotency key of the work: the same in every attempt. Give it to what has effects. */
  readonly handoffId: string;
  readonly attempt: number;
  readonly deadline: Date;
  /** Aborted when the work is not wanted any more; its reason is a WaybillError. */
  readonly signal: AbortSignal;
  /** Present where an earlier attempt has paused. */
  readonly resume: Resume | undefined;
  progress(body: ProgressBody): Promise<void>;
  /** Asks, and waits for the answer. A question that an earlier attempt had answered is not asked again. */
  ask(question: Ask | string): Promise<Json>;
  /** `return work.pause(…)`: ends the attempt until all is answered; the next one has the state. */
  pause(questions: readonly Ask[] | Ask | string, state: string): Returned;
  /** `return work.result(…)`: for messages, artifacts and effects next to the output. */
  result(result: FullResult): Returned;
  /** Hands off a part: same job and trace, and no later than this handoff's deadline. */
  handoff(options: HandoffOptions): HandoffHandle;
}

// What a capability's schema lets in is not what TypeScript can know: the handler says it.
export type Handler<Input = Json> = (
  work: Work<Input>,
) => Promise<Json | Returned | void> | Json | Returned | void;

import { asFailureOfPart, failureFrom } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Json, StatusCode } from "@waybill/protocol";
import type { Assignment, Delivery, Failure, Member, Whom } from "./member.ts";
import type { Journal } from "./journal.ts";
import { WaitingForAnswer } from "./waiting-for-answer.ts";

/** The manager's next move for a task. */
export type Move =
  | {
      readonly delegate: {
        readonly to: Whom;
        readonly task: string;
        readonly expectedOutput?: string | undefined;
        readonly input?: Json | undefined;
      };
    }
  | { readonly ask: { readonly to: Whom; readonly question: string } }
  /** With the output of the task. */
  | { readonly finish: Json };

/** A move and its outcome. */
export interface Made {
  readonly move: Exclude<Move, { finish: Json }>;
  readonly delivery?: Delivery | undefined;
  readonly failure?: Failed | undefined;
}

interface Failed extends Failure {
  readonly retryable: boolean;
  readonly cause?: Json | undefined;
}

/** A task as its manager sees it. */
export interface Situation extends Assignment {
  readonly members: readonly Pick<Member, "role" | "goal">[];
  /** The moves so far. */
  readonly made: readonly Made[];
}

/** Decides the next move of a crew that it leads. */
export type Manager = (situation: Situation) => Promise<Move> | Move;

/** What is needed of a crew that a manager leads. */
interface Led {
  readonly manager: Manager;
  readonly members: readonly Member[];
  readonly movesAtMost?: number | undefined;
}

/** The outcome of a task under a manager. */
export interface Managed extends Delivery {
  readonly failures: readonly Failure[];
}

const MOVES_AT_MOST = 16;

/** Lets the manager see to a task, move by move. */
export async function managed(
  { manager, members, movesAtMost = MOVES_AT_MOST }: Led,
  task: string,
  assignmentOf: (step: string) => Assignment,
  journal: Journal,
  memberFor: (whom: Whom) => Promise<Member>,
): Promise<Managed> {
  const made: Made[] = [];
  for (let turn = 1; turn <= movesAtMost; turn++) {
    const [chosen, taken] = [`${task}/move-${turn}`, `${task}/move-${turn}/taken`];
    const situation = { ...assignmentOf(chosen), members, made: [...made] };
    situation.signal.throwIfAborted();
    const move = await journal.once(chosen, async () => manager(situation));
    if ("finish" in move) return finished(move.finish, made);
    made.push(await journal.once(taken, () => takenUp(move, assignmentOf(taken), memberFor)));
  }
  throw new WaybillError(
    508,
    `The manager has made ${movesAtMost} moves for one task without finishing it. Raise movesAtMost, or reduce the task.`,
  );
}

/** Words over a failed delegation are no success: a later delivery is required. */
function finished(output: Json, made: readonly Made[]): Managed {
  const failure = made.at(-1)?.failure;
  if (failure !== undefined) {
    const { status, message, retryable, cause } = failure;
    throw asFailureOfPart(new WaybillError(status as StatusCode, message, { retryable, cause }));
  }
  return {
    output,
    messages: made.flatMap(({ delivery }) => delivery?.messages ?? []),
    artifacts: made.flatMap(({ delivery }) => delivery?.artifacts ?? []),
    failures: made.flatMap((each) => each.failure ?? []),
  };
}

async function takenUp(
  move: Made["move"],
  assignment: Assignment,
  memberFor: (whom: Whom) => Promise<Member>,
): Promise<Made> {
  const { to } = "ask" in move ? move.ask : move.delegate;
  try {
    const member = await memberFor(to);
    return { move, delivery: await member.work({ ...assignment, ...wordsOfMove(move) }) };
  } catch (thrown) {
    if (thrown instanceof WaitingForAnswer || assignment.signal.aborted) throw thrown;
    const error = WaybillError.is(thrown) ? thrown : failureFrom(thrown);
    const { status, message, retryable, cause } = error;
    // Kept as JSON, in case the crew pauses.
    const told = cause instanceof Error ? cause.message : (cause as Json | undefined);
    return { move, failure: { to, status, message, retryable, cause: told } };
  }
}

function wordsOfMove(move: Made["move"]): Pick<Assignment, "brief" | "input"> {
  if ("ask" in move) {
    const expected_output = "An answer to the question.";
    return { brief: { instruction: move.ask.question, expected_output }, input: undefined };
  }
  const { task: instruction, expectedOutput: expected, input } = move.delegate;
  const brief =
    expected === undefined ? { instruction } : { instruction, expected_output: expected };
  return { brief, input };
}

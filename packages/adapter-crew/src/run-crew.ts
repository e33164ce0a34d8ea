import { mergeUsage } from "@waybill/protocol";
import type { Artifact, Json, Message, UsageRow } from "@waybill/protocol";
import type { Crew, Task, TaskOutcome } from "./crew.ts";
import type { CrewState, CrewWork } from "./crew-work.ts";
import { doTask } from "./do-task.ts";
import { Journal } from "./journal.ts";
import { stagesOf } from "./stages.ts";
import { WaitingForAnswer } from "./waiting-for-answer.ts";
import type { Question } from "./waiting-for-answer.ts";

/** The outcome of a crew. */
export interface CrewResult {
  /** The outcome of the last task. Undefined if the crew waits. */
  readonly output: Json | undefined;
  /** In the order of the tasks. */
  readonly outcomes: readonly TaskOutcome[];
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  /** What its members have used, other agents among them. */
  readonly usage: readonly UsageRow[];
  /** Its open questions: it resumes `after` the state, with `answers`. */
  readonly questions: readonly Question[];
  readonly state: CrewState;
}

/** Runs the tasks of a crew in order, asynchronous ones concurrently. */
export async function runCrew(crew: Crew, work: CrewWork): Promise<CrewResult> {
  const outcomes: TaskOutcome[] = [];
  let usage = mergeUsage(work.after?.usage ?? []);
  const onUsage = (rows: readonly UsageRow[]) => void (usage = mergeUsage([...usage, ...rows]));
  const result = (output?: Json, waiting: Partial<Joined> = {}): CrewResult => ({
    output,
    outcomes,
    messages: outcomes.flatMap(({ messages }) => messages),
    artifacts: outcomes.flatMap(({ artifacts }) => artifacts),
    usage,
    questions: waiting.questions ?? [],
    state: {
      done: [...outcomes, ...(waiting.outcomes ?? [])],
      steps: Object.fromEntries(waiting.steps ?? []),
      usage,
    },
  });
  for (const stage of stagesOf(crew)) {
    work.signal?.throwIfAborted();
    const before = [...outcomes];
    const ended = await joined(stage, work, (task, journal, signal) =>
      doTask({ crew, work, journal, task, before, signal, onUsage }),
    );
    if (ended.questions.length > 0) return result(undefined, ended);
    outcomes.push(...ended.outcomes);
  }
  return result(outcomes.at(-1)?.output);
}

interface Joined {
  readonly outcomes: readonly TaskOutcome[];
  readonly questions: readonly Question[];
  readonly steps: readonly (readonly [task: string, steps: Journal["steps"]])[];
}

/** Runs a stage concurrently. A task that fails stops the others; one that waits lets them finish. */
async function joined(
  stage: readonly Task[],
  { after, signal: outer }: CrewWork,
  act: (task: Task, journal: Journal, signal: AbortSignal) => Promise<TaskOutcome>,
): Promise<Joined> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(outer === undefined ? [] : [outer])]);
  const questions: Question[] = [];
  const steps: [string, Journal["steps"]][] = [];
  const ended = await Promise.all(
    stage.map(async (task) => {
      const { name } = task;
      const known = after?.done.find((each) => each.task === name);
      if (known !== undefined) return known;
      const journal = new Journal(after?.steps[name]);
      try {
        return await act(task, journal, signal);
      } catch (thrown) {
        if (!(thrown instanceof WaitingForAnswer)) stop.abort(thrown);
        else {
          questions.push(thrown.question);
          steps.push([name, journal.steps]);
        }
        return [];
      }
    }),
  );
  outer?.throwIfAborted();
  stop.signal.throwIfAborted();
  return { outcomes: ended.flat(), questions, steps };
}

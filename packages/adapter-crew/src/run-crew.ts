import type { PortableWork } from "@waybill/agent/adapter";
import { mergeUsage } from "@waybill/protocol";
import type { Artifact, Json, JsonSchema, Message, UsageRow } from "@waybill/protocol";
import type { Assignment, Crew, Task, TaskOutcome } from "./crew.ts";
import { doTask } from "./do-task.ts";
import { Journal } from "./journal.ts";
import { stagesOf } from "./stages.ts";
import { Waiting } from "./waiting.ts";
import type { Question } from "./waiting.ts";

/** What a crew is asked. */
export interface CrewWork {
  /** Names the run. What its members hand off is found again when one of this name goes on. */
  readonly run: string;
  readonly request?: PortableWork | undefined;
  /** The form of what the last task comes to, where the task says none. */
  readonly output?: JsonSchema | undefined;
  /** Where an earlier run of it has paused: goes on there, with the answers. */
  readonly after?: CrewState | undefined;
  readonly answers?: ReadonlyMap<string, Json> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Hears of each task that is done. */
  readonly onTask?: ((outcome: TaskOutcome) => void) | undefined;
  /** Hears what members report while they work. */
  readonly onProgress?: ((event: unknown) => void) | undefined;
  /** Answers questions. Left out: the crew pauses with them. */
  readonly onQuestion?: Assignment["ask"] | undefined;
}

/** How far a crew is, as JSON: all there is to know in order to go on. */
export interface CrewState {
  readonly done: readonly TaskOutcome[];
  /** What the steps of tasks that are not done have come to, by the names of the tasks. */
  readonly steps: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What its members have used. */
  readonly usage?: readonly UsageRow[] | undefined;
}

/** What a crew has come to. */
export interface CrewResult {
  /** What the last task has come to. Undefined where the crew waits. */
  readonly output: Json | undefined;
  /** In the order of the tasks. */
  readonly outcomes: readonly TaskOutcome[];
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  /** What its members have used, other agents among them. */
  readonly usage: readonly UsageRow[];
  /** What it waits for: it goes on `after` the state, with `answers`. */
  readonly questions: readonly Question[];
  readonly state: CrewState;
}

/** Has the tasks of a crew done, one after the other, asynchronous ones at once. */
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

/** All of a stage at once. One that fails stops the others; one that waits lets them come to their end. */
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
        if (!(thrown instanceof Waiting)) stop.abort(thrown);
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

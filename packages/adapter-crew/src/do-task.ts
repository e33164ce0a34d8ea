import { WaybillError } from "@waybill/protocol";
import type { JsonSchema, UsageRow } from "@waybill/protocol";
import { briefOfTask } from "./brief.ts";
import type { Unusable } from "./brief.ts";
import { checked } from "./check.ts";
import type { Delivered } from "./check.ts";
import type { Crew, Task, TaskOutcome } from "./crew.ts";
import type { Assignment, Member, Whom } from "./member.ts";
import type { Journal } from "./journal.ts";
import { managed } from "./manager.ts";
import type { CrewWork } from "./crew-work.ts";
import { WaitingForAnswer } from "./waiting-for-answer.ts";

/** A task in the course of its crew's run. */
export interface Doing {
  readonly crew: Crew;
  readonly work: CrewWork;
  readonly journal: Journal;
  readonly task: Task;
  readonly before: readonly TaskOutcome[];
  readonly signal: AbortSignal;
  /** Hears what members have used. */
  readonly onUsage: (rows: readonly UsageRow[]) => void;
}

const TRIES_AT_MOST = 3;

/** Requests deliveries for a task until one is accepted. */
export async function doTask(doing: Doing): Promise<TaskOutcome> {
  const { crew, work, task } = doing;
  const { triesAtMost = TRIES_AT_MOST } = task;
  const isLast = crew.tasks.at(-1) === task;
  const form = task.output ?? (isLast ? work.output : undefined) ?? true;
  let unusable: Unusable | undefined;
  for (let attempt = 1; attempt <= triesAtMost; attempt++) {
    const delivery = await delivered(doing, `${task.name}/${attempt}`, form, unusable);
    const { outcome, fault } = await checked(task, form, delivery);
    if (fault === undefined) {
      work.onTask?.(outcome);
      return outcome;
    }
    unusable = { outcome, fault };
  }
  throw new WaybillError(
    520,
    `The task ${task.name} was done ${triesAtMost} times, and its output can't be used: ${unusable!.fault}`,
  );
}

async function delivered(
  doing: Doing,
  step: string,
  form: JsonSchema,
  unusable: Unusable | undefined,
): Promise<Delivered> {
  const { crew, journal, task } = doing;
  const { manager } = crew;
  const assignmentAt = (at: string) => assignmentOf(doing, at, form, unusable);
  const memberFor = (whom: Whom) => countedMember(doing, whom);
  const { member: whom } = task;
  if (whom === undefined) {
    const managing = { ...crew, manager: manager! };
    return { ...(await managed(managing, step, assignmentAt, journal, memberFor)), by: "manager" };
  }
  return journal.once(step, async () => {
    const member = await memberFor(whom);
    return { ...(await member.work(assignmentAt(step))), by: member.role, failures: [] };
  });
}

function assignmentOf(
  { work, task, before, signal }: Doing,
  step: string,
  form: JsonSchema,
  unusable: Unusable | undefined,
): Assignment {
  const { run, request = {}, answers, traceparent, tracestate } = work;
  const context = before.filter((each) => task.context?.includes(each.task) ?? true);
  return {
    run,
    step,
    brief: briefOfTask(task, { request, context, form, unusable }),
    input: task.input,
    request,
    artifacts: [...(request.artifacts ?? []), ...context.flatMap(({ artifacts }) => artifacts)],
    signal,
    traceparent,
    tracestate,
    progress: (event) => work.onProgress?.(event),
    async ask(asked) {
      const id = `${step}/${asked.id ?? "question"}`;
      const answer = answers?.get(id);
      if (answer !== undefined) return answer;
      if (work.onQuestion !== undefined) return work.onQuestion(asked);
      throw new WaitingForAnswer({ ...asked, id });
    },
  };
}

/** A delivery counts when it is made: those in a journal were counted then. */
async function countedMember({ crew, onUsage }: Doing, whom: Whom): Promise<Member> {
  const member = await memberOf(crew, whom);
  const { role, goal } = member;
  return {
    role,
    goal,
    async work(assignment) {
      const delivery = await member.work(assignment);
      onUsage(delivery.usage ?? []);
      return delivery;
    },
  };
}

async function memberOf({ members, elsewhere }: Crew, whom: Whom): Promise<Member> {
  const member = members.find(({ role }) => role === whom) ?? (await elsewhere?.(whom));
  if (member !== undefined) return member;
  const who = typeof whom === "string" ? whom : `an agent with the capability ${whom.capability}`;
  throw new WaybillError(
    404,
    `A task is assigned to ${who}, but there is no such member${elsewhere ? " and no such agent" : ""}.`,
  );
}

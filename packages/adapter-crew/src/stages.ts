import { WaybillError } from "@waybill/protocol";
import type { Crew, Task } from "./crew.ts";

/** The tasks in stages: adjacent asynchronous ones are one stage, others one each. */
export function stagesOf({ tasks, manager }: Crew): (readonly Task[])[] {
  const stages: Task[][] = [];
  const done = new Set<string>();
  for (const [index, task] of tasks.entries()) {
    const joins = task.isAsync === true && tasks[index - 1]?.isAsync === true;
    const stage = joins ? stages.at(-1)! : [];
    if (!joins) {
      for (const { name } of stages.at(-1) ?? []) done.add(name);
      stages.push(stage);
    }
    assertSound(task, tasks.slice(0, index), done);
    if (task.member === undefined && manager === undefined)
      throw unsound(`The task ${task.name} has no member, and no manager leads the crew.`);
    stage.push(task);
  }
  return stages;
}

function assertSound({ name, context = [] }: Task, before: readonly Task[], done: Set<string>) {
  if (before.some((each) => each.name === name))
    throw unsound(`Two tasks are called ${name}, so what they come to could be mixed up.`);
  const missing = context.find((each) => !done.has(each));
  if (missing !== undefined)
    throw unsound(
      `The task ${name} builds on ${missing}, and no task of that name is done before.`,
    );
}

function unsound(message: string): WaybillError {
  return new WaybillError(422, message);
}

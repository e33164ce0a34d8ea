import { checkHistory } from "@waybill/protocol/audit";
import type { StatusCode } from "@waybill/protocol";
import { HUB } from "../plan/plan.ts";
import type { Plan } from "../plan/plan.ts";
import type { Course } from "../supervise/run.ts";
import type { Evidence } from "./evidence.ts";
import { lostAttempts, usedUpByKills } from "./lost-attempts.ts";

/** One property that must hold, and its counterexamples. */
export interface Property {
  readonly name: string;
  readonly problems: readonly string[];
}

type Check = (plan: Plan, course: Course, evidence: Evidence) => readonly string[];

const CHECKS: Readonly<Record<string, Check>> = {
  "nothing is lost": lost,
  "nothing comes twice": twice,
  "the history holds": broken,
  "the ledger's chain verifies": unchained,
  "no effect happens twice": affectedTwice,
  "only those who are killed die": fallen,
};

export function judge(plan: Plan, course: Course, evidence: Evidence): readonly Property[] {
  return Object.entries(CHECKS).map(([name, check]) => ({
    name,
    problems: check(plan, course, evidence),
  }));
}

function lost(
  { tasks, topology }: Plan,
  { isOver, outages }: Course,
  evidence: Evidence,
): string[] {
  const { kept, applied, handoffs, effects, unacknowledged, history } = evidence;
  const usedUp = usedUpByKills(evidence, lostAttempts(history, topology, outages));
  const affected = new Set(effects.map(({ key }) => key));
  const statuses = new Map(applied.map(({ id, status }) => [id, status]));
  const ids = new Map(kept.map(({ index, id }) => [index, id]));
  const problems = tasks.flatMap(({ index, kind }) => {
    const id = ids.get(index);
    const stored = id === undefined ? undefined : handoffs.get(id);
    if (id === undefined || stored === undefined) {
      return [`Handoff ${index} (${kind}) never came into custody.`];
    }
    const name = `Handoff ${index} (${kind}, ${id})`;
    if (stored.state === "open") return [`${name} has not ended.`];
    const status = statuses.get(id);
    if (status === undefined) return [`${name}: its delegator was not told that it ended.`];
    if (!isEndAs(stored.state, status)) {
      return [`${name} is ${stored.state}, and its delegator was told ${status}.`];
    }
    if (kind !== "late" && stored.state !== "completed" && !usedUp.has(id)) {
      return [`${name} is ${stored.state} (${status}), though it could be done.`];
    }
    const hasDone = stored.state !== "completed" || affected.has(id);
    return hasDone ? [] : [`${name} is completed without its effect.`];
  });
  problems.push(...unacknowledged.map((id) => `The end of ${id} was never acknowledged.`));
  if (!isOver) problems.push("The run stood still before everything had ended.");
  return problems;
}

function isEndAs(state: string, status: StatusCode): boolean {
  return (state === "completed") === (status === 200);
}

function twice(_plan: Plan, _course: Course, { kept, applied }: Evidence): string[] {
  return [
    ...repeated(kept.map(({ index }) => index)).map((index) => `Handoff ${index} has two ids.`),
    ...repeated(applied.map(({ id }) => id)).map((id) => `The end of ${id} was applied twice.`),
    ...applied.flatMap(({ index, id, status, outputIndex }) =>
      status !== 200 || outputIndex === index
        ? []
        : [`Handoff ${index} (${id}) was given the result of ${outputIndex}.`],
    ),
  ];
}

function broken(_plan: Plan, _course: Course, { history }: Evidence): string[] {
  const { violations } = checkHistory(history, { isComplete: true, hub: HUB });
  return violations.map(
    ({ promise, rule, handoffId, message }) => `${promise} ${rule}, ${handoffId}: ${message}`,
  );
}

function unchained(_plan: Plan, _course: Course, { ledger }: Evidence): string[] {
  return ledger.holds ? [] : [ledger.message];
}

function affectedTwice(_plan: Plan, _course: Course, { effects, handoffs }: Evidence): string[] {
  return [
    ...repeated(effects.map(({ key }) => key)).map((key) => `The effect ${key} happened twice.`),
    ...effects.flatMap(({ key }) =>
      handoffs.has(key) ? [] : [`The effect ${key} is of no handoff in custody.`],
    ),
  ];
}

function fallen(_plan: Plan, { falls }: Course): readonly string[] {
  return falls;
}

function repeated<Value>(values: readonly Value[]): Value[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

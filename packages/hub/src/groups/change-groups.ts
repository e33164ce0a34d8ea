import { isPrincipal, WaybillError } from "@waybill/protocol";
import type { Quota } from "@waybill/protocol/wire";
import { actEntry } from "../admission/act.ts";
import type { Act } from "../admission/act.ts";
import { changedMeanwhile } from "../admission/record-act.ts";
import { commitOne } from "../commit-each.ts";
import type { Engine } from "../engine/engine.ts";
import type { Page } from "../store.ts";
import type { Group } from "./groups.ts";
import { slotSettings } from "./minute.ts";

/** A group of agents with its name. */
export interface NamedGroup extends Group {
  readonly name: string;
}

/** Who is added to a group, and who is removed. */
export interface GroupChange {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** Another operator may change groups at the same time: then a change is retried, this often. */
const GROUP_TRIES = 5;
const SLOTS_AT_ONCE = 500;

/** The groups that operators have made, by name. */
export async function namedGroups(
  engine: Engine,
  { after = "", limit }: Page<string>,
): Promise<readonly NamedGroup[]> {
  const all = await engine.groups.all();
  return all.filter(({ name }) => name > after).slice(0, limit);
}

export async function namedGroup(engine: Engine, name: string): Promise<NamedGroup> {
  const group = await engine.groups.group(name);
  if (group !== undefined) return { name, ...group };
  throw new WaybillError(
    404,
    `There is no group ${JSON.stringify(name)} here. To list the groups: waybill groups list`,
  );
}

/** Adds agents to a group, which is made with its first member, and removes others. */
export async function changeMembers(
  engine: Engine,
  name: string,
  { add = [], remove = [] }: GroupChange,
): Promise<void> {
  const fault = [...add, ...remove].find((member) => !isPrincipal(member));
  if (fault !== undefined) {
    throw new WaybillError(
      400,
      `${JSON.stringify(fault)} is not an agent id, nor the name of somebody for whom an agent acts.`,
      { at: "/add" },
    );
  }
  if (add.length === 0) await namedGroup(engine, name);
  const next = ({ members, quota }: Group): Group => ({
    members: [...members.filter((agent) => !remove.includes(agent)), ...add],
    quota,
  });
  await changeGroup(engine, name, next, (before) => ({
    type: "group_changed",
    group: name,
    added: add.filter((agent) => !before.includes(agent)),
    removed: remove.filter((agent) => before.includes(agent) && !add.includes(agent)),
  }));
}

/** Sets the quota of a group; an empty quota removes it. */
export async function setQuota(engine: Engine, name: string, quota: Quota): Promise<void> {
  const { open, per_minute } = quota;
  await changeGroup(
    engine,
    name,
    ({ members }) => ({ members, quota: { open, per_minute } }),
    () => ({ type: "group_quota", group: name, open, per_minute }),
  );
  if (per_minute === undefined) await forgetMinute(engine, name);
}

/** Removes a group with its quota. */
export async function removeGroup(engine: Engine, name: string): Promise<void> {
  await namedGroup(engine, name);
  await changeGroup(
    engine,
    name,
    () => undefined,
    () => ({ type: "group_removed", group: name }),
  );
  await forgetMinute(engine, name);
}

async function changeGroup(
  engine: Engine,
  name: string,
  next: (before: Group) => Group | undefined,
  actOf: (before: readonly string[]) => Act,
): Promise<void> {
  const { groups, quotas, dispatcher, clock } = engine;
  engine.assertOpen();
  for (let tried = 0; tried < GROUP_TRIES; tried++) {
    const members = (await groups.group(name))?.members ?? [];
    const settings = await groups.change(name, next);
    if (settings.length === 0) return;
    const entries = [actEntry(clock.now(), actOf(members))];
    const outcome = await commitOne(engine.writer, { handoff: null, settings, entries });
    if (outcome.type !== "committed") continue;
    quotas.forget(name);
    dispatcher.reconsiderAll();
    return;
  }
  throw changedMeanwhile();
}

/** After this the times of the last minute's handoffs do not matter any more. */
async function forgetMinute(engine: Engine, name: string): Promise<void> {
  const { store, quotas } = engine;
  for (let after: string | undefined; ;) {
    const page = await store.settings(slotSettings(name), { after, limit: SLOTS_AT_ONCE });
    const settings = page.map(({ name: slot, value }) => ({ name: slot, from: value, to: null }));
    if (page.length > 0) await commitOne(engine.writer, { handoff: null, settings, entries: [] });
    if (page.length < SLOTS_AT_ONCE) break;
    after = page.at(-1)!.name;
  }
  quotas.forget(name);
}

import { WaybillError } from "@waybill/protocol";
import { isGroupName } from "@waybill/protocol/hub";
import type { Quota } from "@waybill/protocol/wire";
import type { SettingChange, Store } from "../store.ts";

/** Agents under one name, as operators have grouped them. */
export interface Group {
  readonly members: readonly string[];
  readonly quota: Quota;
}

/** All groups are in memory, and an agent's groups are read at each of its handoffs. */
const GROUP_LIMITS = {
  groups: 256,
  members: 1_000,
  groupsOfAgent: 16,
  /** Over all groups. */
  memberships: 5_000,
} as const;

interface Known {
  /** The value of the setting that counts the changes. */
  readonly changes: string | undefined;
  readonly groups: ReadonlyMap<string, { readonly group: Group; readonly text: string }>;
  readonly ofAgent: ReadonlyMap<string, readonly string[]>;
}

const PAGE = 100;
const PREFIX = "group ";
/** Counts the changes of all hubs: the groups in memory are outdated once it differs. */
const CHANGES = "groups";
const NOBODY: Group = { members: [], quota: {} };
const NONE: readonly string[] = [];

/** The groups that operators have made. They are in the store, and every hub over it shares them. */
export class Groups {
  readonly #store: Pick<Store, "setting" | "settings">;
  #look: Promise<Known> | undefined;
  #known: Known = { changes: undefined, groups: new Map(), ofAgent: new Map() };

  constructor(store: Pick<Store, "setting" | "settings">) {
    this.#store = store;
  }

  /** The names of the groups that an agent is in. */
  async of(agent: string): Promise<readonly string[]> {
    return (await this.#current()).ofAgent.get(agent) ?? NONE;
  }

  /** The groups of any of these that have a quota. */
  async limitsOf(
    members: readonly string[],
  ): Promise<readonly (Group & { readonly name: string })[]> {
    const { ofAgent, groups } = await this.#current();
    const names = new Set(members.flatMap((member) => ofAgent.get(member) ?? NONE));
    return Array.from(names).flatMap((name) => {
      const { group } = groups.get(name)!;
      return isLimited(group.quota) ? [{ name, ...group }] : [];
    });
  }

  async group(name: string): Promise<Group | undefined> {
    return (await this.#current()).groups.get(name)?.group;
  }

  /** All groups, by name. */
  async all(): Promise<readonly (Group & { readonly name: string })[]> {
    const { groups } = await this.#current();
    return Array.from(groups, ([name, { group }]) => ({ name, ...group }));
  }

  /** The changes of a commit that replace a group; `undefined` removes it. */
  async change(
    name: string,
    next: (before: Group) => Group | undefined,
  ): Promise<readonly SettingChange[]> {
    if (!isGroupName(name)) {
      throw new WaybillError(
        400,
        "A group name must have 1 to 64 of a-z 0-9 . - _ and start and end with a letter or digit.",
        { at: "/name" },
      );
    }
    const known = await this.#current();
    const before = known.groups.get(name);
    const after = next(before?.group ?? NOBODY);
    const isThere = after !== undefined && (after.members.length > 0 || isLimited(after.quota));
    if (isThere) checkLimits(known, name, after);
    const to = isThere ? textOf(after) : null;
    const from = before?.text ?? null;
    if (from === to) return [];
    return [
      { name: PREFIX + name, from, to },
      { name: CHANGES, from: known.changes ?? null, to: String(Number(known.changes ?? 0) + 1) },
    ];
  }

  /** Whoever asks before a look has begun shares it. */
  #current(): Promise<Known> {
    this.#look ??= Promise.resolve().then(() => {
      this.#look = undefined;
      return this.#lookAgain();
    });
    return this.#look;
  }

  async #lookAgain(): Promise<Known> {
    for (;;) {
      const changes = await this.#store.setting(CHANGES);
      if (changes === this.#known.changes) return this.#known;
      const groups = await this.#read();
      // Another hub may have changed one during the read.
      if ((await this.#store.setting(CHANGES)) !== changes) continue;
      this.#known = { changes, groups, ofAgent: byAgent(groups) };
    }
  }

  async #read(): Promise<Known["groups"]> {
    const groups = new Map<string, { group: Group; text: string }>();
    for (let after: string | undefined; ;) {
      const page = await this.#store.settings(PREFIX, { after, limit: PAGE });
      for (const { name, value } of page) {
        groups.set(name.slice(PREFIX.length), { group: JSON.parse(value) as Group, text: value });
      }
      if (page.length < PAGE) return groups;
      after = page.at(-1)!.name;
    }
  }
}

function isLimited({ open, per_minute: perMinute }: Quota): boolean {
  return open !== undefined || perMinute !== undefined;
}

function textOf({ members, quota }: Group): string {
  return JSON.stringify({ members: [...new Set(members)].toSorted(), quota });
}

function byAgent(groups: Known["groups"]): Known["ofAgent"] {
  const ofAgent = new Map<string, string[]>();
  for (const [name, { group }] of groups) {
    for (const agent of group.members) ofAgent.set(agent, [...(ofAgent.get(agent) ?? []), name]);
  }
  return ofAgent;
}

function checkLimits({ groups, ofAgent }: Known, name: string, after: Group): void {
  const members = new Set(after.members);
  const before = groups.get(name)?.group.members.length ?? 0;
  const all = Array.from(groups.values(), ({ group }) => group.members.length);
  const memberships = all.reduce((sum, each) => sum + each, 0) - before + members.size;
  const { groupsOfAgent } = GROUP_LIMITS;
  const crowded = after.members.find((agent) => {
    const own = ofAgent.get(agent) ?? NONE;
    return own.length >= groupsOfAgent && !own.includes(name);
  });
  const fault =
    !groups.has(name) && groups.size >= GROUP_LIMITS.groups
      ? `This hub has ${groups.size} groups, and no room for more`
      : members.size > GROUP_LIMITS.members
        ? `The group ${name} would have ${members.size} members, and at most ${GROUP_LIMITS.members} are allowed`
        : memberships > GROUP_LIMITS.memberships
          ? `All groups of this hub would have ${memberships} members together, and at most ${GROUP_LIMITS.memberships} are allowed`
          : crowded === undefined
            ? undefined
            : `${crowded} is in ${groupsOfAgent} groups already, which is as many as an agent can be in`;
  if (fault !== undefined) {
    throw new WaybillError(413, `${fault}. Remove a member first: waybill groups remove`);
  }
}

import type { HandoffEnvelope } from "@waybill/protocol";
import { BoundedCache } from "@waybill/protocol/wire";
import { recordOf } from "../custody/handoff-record.ts";
import type { HandoffRecord, VersionedRecord } from "../custody/handoff-record.ts";
import type { Store, StoredHandoff } from "../store.ts";
import { GroupMembers } from "./group-members.ts";

const PAGE = 100;
/** In all groups together. A larger group is read again by each member that joins it alone. */
const MEMBERS_KEPT = 100_000;

interface KnownGroup {
  readonly members: GroupMembers;
  readonly loaded: Promise<GroupMembers>;
  readonly weight: number;
}

/**
 * The recently joined groups of handoffs. A group is read from the store once, and then updated with
 * every commit of any hub.
 */
export class HandoffGroups {
  readonly #store: Pick<Store, "group">;
  readonly #known: BoundedCache<string, KnownGroup>;
  /** The groups with members whose commit is under way: all of these have to see each other. */
  readonly #joined = new Map<string, { readonly group: KnownGroup; readonly ids: Set<string> }>();

  constructor(store: Pick<Store, "group">, membersKept: number = MEMBERS_KEPT) {
    this.#store = store;
    this.#known = new BoundedCache(membersKept, ({ weight }) => weight);
  }

  /** Adds a member that is about to be committed; `joined` or `left` says how that ended. */
  async join(envelope: HandoffEnvelope, record: HandoffRecord): Promise<GroupMembers> {
    const { delegator, id } = record.state;
    const key = keyOf(delegator, record.group!.id);
    const group = this.#open(delegator, record.group!.id);
    const joined = this.#joined.get(key) ?? { group, ids: new Set() };
    this.#joined.set(key, joined);
    joined.ids.add(id);
    const members = await group.loaded;
    members.join(envelope, record);
    return members;
  }

  of(delegator: string, groupId: string): Promise<GroupMembers> {
    return this.#open(delegator, groupId).loaded;
  }

  #open(delegator: string, groupId: string): KnownGroup {
    const key = keyOf(delegator, groupId);
    const known = this.#get(key);
    if (known !== undefined) return known;
    const members = new GroupMembers();
    const loaded = this.#load(delegator, groupId, members);
    const group = { members, loaded, weight: 1 };
    this.#known.set(key, group);
    loaded.catch(() => {
      if (this.#known.get(key)?.members === members) this.#known.delete(key);
    });
    return group;
  }

  #get(key: string): KnownGroup | undefined {
    return this.#joined.get(key)?.group ?? this.#known.get(key);
  }

  /** Commits during the read are newer than its result, and stay. */
  async #load(delegator: string, groupId: string, members: GroupMembers): Promise<GroupMembers> {
    for (let after: string | undefined; ;) {
      const page = await this.#store.group(delegator, groupId, { after, limit: PAGE });
      for (const stored of page) members.note(recordOf(stored));
      if (page.length < PAGE) return members;
      after = page.at(-1)!.id;
    }
  }

  /** A commit of this hub. */
  note(committed: VersionedRecord): void {
    const { group, state } = committed.record;
    if (group === null) return;
    const key = keyOf(state.delegator, group.id);
    const known = this.#get(key);
    if (known === undefined) return;
    known.members.note(committed);
    const weight = known.members.size;
    if (weight !== known.weight) this.#known.set(key, { ...known, weight });
  }

  /** A commit of another hub. */
  noteStored(stored: StoredHandoff): void {
    if (this.isKnown(stored)) this.note(recordOf(stored));
  }

  isKnown({ delegator, groupId }: StoredHandoff): boolean {
    return groupId !== null && this.#get(keyOf(delegator, groupId)) !== undefined;
  }

  /** A new member is committed, and noted. */
  joined({ group, state }: HandoffRecord): void {
    if (group !== null) this.#forget(keyOf(state.delegator, group.id), state.id);
  }

  /** The commit of a new member has failed. */
  left({ group, state }: HandoffRecord): void {
    if (group === null) return;
    const key = keyOf(state.delegator, group.id);
    this.#get(key)?.members.leave(state.id);
    this.#forget(key, state.id);
  }

  #forget(key: string, id: string): void {
    const joined = this.#joined.get(key);
    joined?.ids.delete(id);
    if (joined?.ids.size === 0) this.#joined.delete(key);
  }
}

function keyOf(delegator: string, groupId: string): string {
  return `${delegator} ${groupId}`;
}

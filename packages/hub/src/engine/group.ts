import { BoundedCache } from "@waybill/protocol/wire";
import { recordOf } from "../custody/handoff-record.ts";
import type { VersionedRecord } from "../custody/handoff-record.ts";
import type { Store, StoredHandoff } from "../store.ts";
import { commitHandoff } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";
import { GroupMembers } from "./group-members.ts";

const PAGE = 100;
/** Of all groups together. A larger group is read again by each that joins it. */
const MEMBERS_KEPT = 100_000;

interface KnownGroup {
  readonly members: GroupMembers;
  readonly loaded: Promise<GroupMembers>;
  readonly weight: number;
}

/**
 * The groups of handoffs that were joined lately. A group is read from the store once, and then updated
 * with every commit of any hub.
 */
export class HandoffGroups {
  readonly #store: Pick<Store, "group">;
  readonly #known = new BoundedCache<string, KnownGroup>(MEMBERS_KEPT, ({ weight }) => weight);

  constructor(store: Pick<Store, "group">) {
    this.#store = store;
  }

  of(delegator: string, groupId: string): Promise<GroupMembers> {
    const key = keyOf(delegator, groupId);
    const known = this.#known.get(key);
    if (known !== undefined) return known.loaded;
    const members = new GroupMembers();
    const loaded = this.#load(delegator, groupId, members);
    this.#known.set(key, { members, loaded, weight: 1 });
    return loaded.catch((error: unknown) => {
      if (this.#known.get(key)?.members === members) this.#known.delete(key);
      throw error;
    });
  }

  /** What was committed meanwhile is newer than what is read, and stays. */
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
    const known = this.#known.get(key);
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
    return groupId !== null && this.#known.get(keyOf(delegator, groupId)) !== undefined;
  }

  /** The commit of a new member has failed. */
  left({ record }: Pick<VersionedRecord, "record">): void {
    const { group, state } = record;
    if (group !== null) this.#known.get(keyOf(state.delegator, group.id))?.members.leave(state.id);
  }
}

function keyOf(delegator: string, groupId: string): string {
  return `${delegator} ${groupId}`;
}

/** Cancels the open members of a decided group. It is idempotent, and done again after a crash. */
export async function endGroup(engine: Engine, delegator: string, groupId: string): Promise<void> {
  const members = await engine.handoffGroups.of(delegator, groupId);
  if (!members.isDecided()) return;
  await Promise.all(
    members.open().map((id) =>
      commitHandoff(engine, id, (transaction) => {
        if (transaction.isOpen) transaction.decide({ type: "group_decided" });
      }),
    ),
  );
}

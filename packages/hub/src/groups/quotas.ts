import { WaybillError } from "@waybill/protocol";
import { checkQuota } from "@waybill/protocol/wire";
import type { OpenHandoffs } from "../engine/open-handoffs.ts";
import type { SettingChange, Store } from "../store.ts";
import type { Group, Groups } from "./groups.ts";
import { readMinute } from "./minute.ts";
import type { Minute, Slot } from "./minute.ts";

export interface QuotasOptions {
  readonly store: Store;
  readonly groups: Groups;
  readonly open: OpenHandoffs;
}

interface Taken {
  readonly minute: Minute;
  readonly slot: Slot;
  readonly before: number;
}

/** A value may be evicted between its read and the check: then it is read again, this often. */
const TRIES = 5;

/** Enforces the quotas of groups. */
export class Quotas {
  readonly #options: QuotasOptions;
  readonly #minutes = new Map<string, Promise<Minute>>();
  /** By the handoff that has taken them, until it is on disk. */
  readonly #taken = new Map<string, readonly Taken[]>();

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  /**
   * Takes a place for a new handoff, and returns the changes of its commit. Refused with 301. Check
   * and taking are synchronous, so that concurrent handoffs never exceed the quota together.
   */
  async enter(
    owners: readonly string[],
    id: string,
    now: number,
  ): Promise<readonly SettingChange[]> {
    const { open, groups } = this.#options;
    for (let tried = 0; tried < TRIES; tried++) {
      const limits = await groups.limitsOf(owners);
      const counted = limits.flatMap(({ quota, members }) =>
        quota.open === undefined ? [] : members,
      );
      await open.load([...owners, ...counted]);
      const minutes = await Promise.all(limits.map((limit) => this.#minuteOf(limit)));
      if (!open.isLoaded([...owners, ...counted])) continue;
      if (minutes.some((minute) => minute !== undefined && minute.first.stored === undefined)) {
        continue;
      }
      limits.forEach((limit, index) => {
        const { name: group, members, quota } = limit;
        const at = minutes[index]?.first.at ?? 0;
        const use = {
          group,
          open: quota.open === undefined ? 0 : open.countOf(members),
          earliest: at === 0 ? undefined : at,
        };
        checkQuota(quota, use, now);
      });
      open.enter(owners, id);
      const taken = minutes.flatMap((minute) =>
        minute === undefined ? [] : [{ minute, ...minute.take(now) }],
      );
      if (taken.length > 0) this.#taken.set(id, taken);
      return taken.map(({ change }) => change);
    }
    throw new WaybillError(
      503,
      `The groups of ${owners.join(" and ")} changed while this handoff was checked. Send the handoff again.`,
    );
  }

  /** It is on disk. */
  settled(id: string): void {
    this.#taken.delete(id);
  }

  /** It was not taken into custody after all. */
  leave(owners: readonly string[], id: string): void {
    this.#options.open.leave(owners, id);
    for (const { minute, slot, before } of this.#taken.get(id) ?? []) minute.giveBack(slot, before);
    this.#taken.delete(id);
  }

  /** The quota of a group has changed. */
  forget(group: string): void {
    this.#minutes.delete(group);
  }

  async #minuteOf({ name, quota }: Group & { readonly name: string }): Promise<Minute | undefined> {
    const { store } = this.#options;
    const { per_minute: size } = quota;
    if (size === undefined) return undefined;
    for (;;) {
      const reading: Promise<Minute> = this.#minutes.get(name) ?? readMinute(store, name, size);
      this.#minutes.set(name, reading);
      const minute: Minute = await reading.catch((error: unknown) => {
        this.#minutes.delete(name);
        throw error;
      });
      // Another hub has changed the quota.
      if (minute.size !== size) {
        if (this.#minutes.get(name) === reading) this.#minutes.delete(name);
        continue;
      }
      while (minute.first.stored === undefined) await minute.refresh(store, minute.first);
      return minute;
    }
  }
}

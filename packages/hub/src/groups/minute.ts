import type { SettingChange, Store } from "../store.ts";

/** When one of the handoffs of a minute was submitted. Its slot is free again after a minute. */
export interface Slot {
  readonly setting: string;
  /** 0 if it was never used. */
  at: number;
  /** The value in the store; undefined if it has to be read. */
  stored: string | null | undefined;
}

const PAGE = 500;

export function slotSettings(group: string): string {
  return `minute ${group} `;
}

/**
 * The times of the last handoffs of a group, as many as its quota allows in a minute. Each has a
 * setting of its own, which changes in the commit of its handoff: a restart forgets nothing, two hubs
 * over one store can't use the same slot, and concurrent handoffs do not wait for each other.
 */
export class Minute {
  readonly #slots: Slot[];

  constructor(slots: readonly Slot[]) {
    this.#slots = slots.toSorted((a, b) => a.at - b.at);
  }

  get size(): number {
    return this.#slots.length;
  }

  /** The least recently used slot. */
  get first(): Slot {
    return this.#slots[0]!;
  }

  take(now: number): {
    readonly slot: Slot;
    readonly before: number;
    readonly change: SettingChange;
  } {
    const slot = this.#slots.shift()!;
    const { at: before, setting: name, stored } = slot;
    const to = String(now);
    slot.at = now;
    this.#place(slot);
    const change = { name, from: stored ?? null, to };
    slot.stored = to;
    return { slot, before, change };
  }

  /** The commit that took a slot has failed, or its outcome is unknown. */
  giveBack(slot: Slot, before: number): void {
    this.#move(slot, before);
    slot.stored = undefined;
  }

  async refresh(store: Pick<Store, "setting">, slot: Slot): Promise<void> {
    const stored = (await store.setting(slot.setting)) ?? null;
    if (slot.stored !== undefined) return;
    slot.stored = stored;
    this.#move(slot, Number(stored ?? 0));
  }

  #move(slot: Slot, at: number): void {
    const place = this.#slots.indexOf(slot);
    if (place >= 0) this.#slots.splice(place, 1);
    slot.at = at;
    this.#place(slot);
  }

  #place(slot: Slot): void {
    const after = this.#slots.findLastIndex(({ at }) => at <= slot.at);
    this.#slots.splice(after + 1, 0, slot);
  }
}

/** The window of a group with that many slots, of the latest uses. */
export async function readMinute(
  store: Pick<Store, "settings">,
  group: string,
  size: number,
): Promise<Minute> {
  const prefix = slotSettings(group);
  const used = new Map<string, Slot>();
  for (let after: string | undefined; ;) {
    const page = await store.settings(prefix, { after, limit: PAGE });
    for (const { name, value } of page) {
      used.set(name, { setting: name, at: Number(value), stored: value });
    }
    if (page.length < PAGE) break;
    after = page.at(-1)!.name;
  }
  const slots = [...used.values()].toSorted((a, b) => b.at - a.at).slice(0, size);
  for (let number = 0; slots.length < size; number++) {
    const setting = `${prefix}${number}`;
    if (!used.has(setting)) slots.push({ setting, at: 0, stored: null });
  }
  return new Minute(slots);
}

import { BoundedCache } from "@waybill/protocol/wire";
import type { Store } from "../store.ts";
import type { WriteBehindSettings } from "./write-behind-settings.ts";

const KEPT = 10_000;

/** When agents were last connected, at any hub of the store, across restarts. */
export class LastSeen {
  readonly #store: Pick<Store, "setting">;
  readonly #settings: WriteBehindSettings;
  readonly #here = new BoundedCache<string, number>(KEPT);

  constructor(store: Pick<Store, "setting">, settings: WriteBehindSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  note(agent: string, at: number): void {
    this.#here.set(agent, at);
    this.#settings.set(nameOf(agent), String(at));
  }

  async of(agent: string): Promise<number | null> {
    const saved = Number((await this.#store.setting(nameOf(agent))) ?? 0);
    const at = Math.max(this.#here.get(agent) ?? 0, saved);
    return at === 0 ? null : at;
  }
}

function nameOf(agent: string): string {
  return `seen ${agent}`;
}

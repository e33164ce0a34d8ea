import { admissionOf } from "@waybill/protocol/wire";
import type { EnrolmentClaim, Newcomers } from "@waybill/protocol/wire";
import type { NewEntry, SettingChange, Store } from "../store.ts";
import { actEntry } from "./act.ts";
import { useInvitation } from "./invitations.ts";

/** How a newcomer asks to be admitted. */
export interface Entry {
  readonly newcomers: Newcomers;
  /** The proof of an invitation, as it came with the manifest. */
  readonly invitation?: string | undefined;
}

/** What the commit of a first manifest has to contain for its admission. */
export interface Admitted {
  /** An operator has named this agent or key. */
  readonly isNamed: boolean;
  readonly settings: readonly SettingChange[];
  readonly entries: readonly NewEntry[];
}

export const NO_MORE: Admitted = { isNamed: false, settings: [], entries: [] };

export interface AdmissionOptions {
  readonly store: Pick<Store, "setting">;
  readonly domain: string;
  /** Agent ids and key thumbprints that are allowed. */
  readonly allowed: readonly string[];
}

/** Decides whose first manifest is accepted. Nothing of a refused manifest is kept. */
export class Admission {
  readonly #store: Pick<Store, "setting">;
  readonly #domain: string;
  readonly #allowed: ReadonlySet<string>;

  constructor({ store, domain, allowed }: AdmissionOptions) {
    this.#store = store;
    this.#domain = domain;
    this.#allowed = new Set(allowed);
  }

  /** Rejects with 401 or 403 if the newcomer may not enrol. */
  async admit(
    newcomer: Omit<EnrolmentClaim, "domain">,
    { newcomers, invitation }: Entry,
    at: number,
  ): Promise<Admitted> {
    const { agent, kid } = newcomer;
    const isAllowed = await this.#isAllowed(agent, kid);
    const hasInvitation = invitation !== undefined;
    const by = admissionOf(newcomers, { agent, kid, isAllowed, hasInvitation });
    if (by === "open") return { ...NO_MORE, isNamed: isAllowed };
    if (by === "allow_list") {
      return {
        ...NO_MORE,
        isNamed: true,
        entries: [actEntry(at, { type: "enrolled", agent, kid, by })],
      };
    }
    const claim = { ...newcomer, domain: this.#domain };
    const { id, isForOne, change } = await useInvitation(this.#store, invitation!, claim, at);
    const act = { type: "enrolled", agent, kid, by, invitation: id } as const;
    return { isNamed: isForOne, settings: [change], entries: [actEntry(at, act)] };
  }

  async #isAllowed(...names: readonly string[]): Promise<boolean> {
    if (names.some((name) => this.#allowed.has(name))) return true;
    for (const name of names) {
      if ((await this.#store.setting(allowedSetting(name))) !== undefined) return true;
    }
    return false;
  }
}

/** The setting for an allowed agent id or key. */
export function allowedSetting(who: string): string {
  return `allowed ${who}`;
}

import { WaybillError } from "@waybill/protocol";
import type { NewEntry, SettingChange, Store } from "../store.ts";
import { actEntry } from "./act.ts";

/** A key that an operator has pinned to an agent, until the agent has published with it. */
export interface Pin {
  readonly agent: string;
  readonly kid: string;
}

/** Where the pin of an agent is kept. */
export function pinSetting(agent: string): string {
  return `pin ${agent}`;
}

/** Where it is kept that an operator has taken an agent out of use. */
export function retiredSetting(agent: string): string {
  return `retired ${agent}`;
}

/** Makes the commit of a manifest a conflict where an operator has pinned or retired the agent meanwhile. */
export function unlessDecided(agent: string, pin: Pin | undefined): readonly SettingChange[] {
  const retired = { name: retiredSetting(agent), from: null, to: null };
  return pin === undefined
    ? [retired, { name: pinSetting(agent), from: null, to: null }]
    : [retired];
}

export async function pinOf(
  store: Pick<Store, "setting">,
  agent: string,
): Promise<Pin | undefined> {
  const kid = await store.setting(pinSetting(agent));
  return kid === undefined ? undefined : { agent, kid };
}

/** While an operator's pin waits, nobody speaks for the agent but whoever holds the pinned key. */
export function checkPin(pin: Pin | undefined, agent: string, kid: string): void {
  if (pin === undefined || pin.kid === kid) return;
  throw new WaybillError(
    401,
    `An operator has pinned the key ${pin.kid} to ${agent}, and this manifest is signed by ${kid}. Sign it with the pinned key. If the wrong key is pinned: waybill agents pin ${agent} ${kid}`,
    { at: "/keys" },
  );
}

/** What goes into the commit of the manifest by which a pin is used up. */
export function usedPin(
  pin: Pin | undefined,
  at: number,
): { readonly settings: readonly SettingChange[]; readonly entries: readonly NewEntry[] } {
  if (pin === undefined) return { settings: [], entries: [] };
  const { agent, kid } = pin;
  return {
    settings: [{ name: pinSetting(agent), from: kid, to: null }],
    entries: [actEntry(at, { type: "repinned", agent, kid })],
  };
}

import { WaybillError } from "@waybill/protocol";
import type { NewEntry, SettingChange, Store } from "../store.ts";
import { actEntry } from "./act.ts";

/** A key that an operator has pinned to an agent, until the agent has published with it. */
export interface Pin {
  readonly agent: string;
  readonly kid: string;
}

/** The setting for the pin of an agent. */
export function pinSetting(agent: string): string {
  return `pin ${agent}`;
}

/** The setting for the retirement of an agent. */
export function retiredSetting(agent: string): string {
  return `retired ${agent}`;
}

/** Makes the commit of a manifest conflict if an operator has pinned or retired the agent meanwhile. */
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

/** While an operator's pin waits, only the holder of the pinned key may publish for the agent. */
export function checkPin(pin: Pin | undefined, agent: string, kid: string): void {
  if (pin === undefined || pin.kid === kid) return;
  throw new WaybillError(
    401,
    `An operator has pinned the key ${pin.kid} to ${agent}, and this manifest is signed by ${kid}. Sign it with the pinned key. If the wrong key is pinned: waybill agents pin ${agent} ${kid}`,
    { at: "/keys" },
  );
}

/** The changes of the manifest's commit that use up a pin. */
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

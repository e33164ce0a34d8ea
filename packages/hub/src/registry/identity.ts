import { readCompact } from "@waybill/protocol";
import { hubIdOf } from "@waybill/protocol/wire";
import type { KeyedHubOptions } from "../engine/options.ts";
import type { Store } from "../store.ts";

/** The identity of a hub: its id as an agent, and its custody domain. */
export interface HubIdentity {
  readonly id: string;
  /** The thumbprint of the key that signed the hub's first manifest. */
  readonly domain: string;
}

const SETTING = "hub_id";

/** The identity with which a store was opened before, even if the key has changed since. */
export async function identityOf({ store, key, id }: KeyedHubOptions): Promise<HubIdentity> {
  const name = id ?? (await store.setting(SETTING)) ?? hubIdOf(key.kid);
  const [first] = await store.manifests(name, { limit: 1 });
  return { id: name, domain: first === undefined ? key.kid : readCompact(first.text).kid };
}

/** Stores the id once its first manifest is on record: a later key would derive another one. */
export async function keepIdentity(store: Store, { id }: HubIdentity): Promise<void> {
  if ((await store.setting(SETTING)) === undefined) await store.saveSetting(SETTING, id);
}

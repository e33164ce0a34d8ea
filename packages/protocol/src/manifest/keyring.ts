import type { KeyRecord, Keyring } from "./key-record.ts";
import type { VerifiedManifest } from "./manifest.ts";

/**
 * What a manifest says about its agent's keys: those that it lists, and those that it retires by
 * leaving them out.
 */
export function keyRecords(
  { keys, at }: Pick<VerifiedManifest, "keys" | "at">,
  previous?: Pick<VerifiedManifest, "keys">,
): ReadonlyMap<string, KeyRecord> {
  const records = new Map<string, KeyRecord>();
  for (const [kid, record] of previous?.keys ?? []) {
    if (!keys.has(kid)) records.set(kid, { ...record, notAfter: Math.min(record.notAfter, at) });
  }
  for (const [kid, record] of keys) records.set(kid, record);
  return records;
}

/**
 * All keys that manifests ever listed. A key stays after it is retired, so that what it signed
 * before can be checked for ever; the newest manifest that lists it says until when it was good,
 * and one that dropped it ends it.
 */
export function keyring(manifests: readonly VerifiedManifest[]): Keyring {
  const inOrder = manifests.toSorted((a, b) => a.manifest.sequence - b.manifest.sequence);
  const owners = ownersOf(inOrder, manifests);
  const records = new Map<string, KeyRecord>();
  const newest = new Map<string, VerifiedManifest>();
  for (const verified of inOrder) {
    const agent = verified.manifest.agent_id;
    for (const [kid, record] of keyRecords(verified, newest.get(agent))) {
      if (owners.get(kid) === agent) records.set(kid, record);
    }
    newest.set(agent, verified);
  }
  return { keyOf: (kid) => records.get(kid) };
}

/**
 * Who signed with a key holds it; who only lists it may have copied it from somebody's manifest,
 * and would otherwise take that agent off the network.
 */
function ownersOf(
  inOrder: readonly VerifiedManifest[],
  asGiven: readonly VerifiedManifest[],
): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  const claim = (kid: string, agent: string) => {
    if (!owners.has(kid)) owners.set(kid, agent);
  };
  for (const { kid, manifest } of inOrder) claim(kid, manifest.agent_id);
  for (const { keys, manifest } of asGiven) {
    for (const kid of keys.keys()) claim(kid, manifest.agent_id);
  }
  return owners;
}

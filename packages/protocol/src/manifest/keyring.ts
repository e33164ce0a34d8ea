import type { KeyRecord, Keyring } from "./key-record.ts";
import type { VerifiedManifest } from "./manifest.ts";

/**
 * The keys of an agent according to a manifest: those that it lists, and those that it retires by
 * omitting them.
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
 * All keys that manifests have ever listed. A retired key is kept, so that older signatures can be
 * verified forever; the newest manifest that lists it says until when it was valid, and the one that
 * dropped it ends it.
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
 * The agent that signed with a key owns it; an agent that merely lists a key may have copied it from
 * another manifest, and would otherwise block that agent.
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
